"""The addresses of all pages, from the table of routes: a new page cannot be forgotten."""

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote, urlencode

import trackrecord
from tests.door.page.shown_store import ShownStore
from trackrecord_door.page.table import VIEWS

# For each path with a part in braces: an id of a project, of which a page is shown.
EXAMPLES: Mapping[str, Callable[[ShownStore, str], str]] = {
    "/procedures/{id:path}": lambda store, project: store.long_procedure(project),
    "/runs/{id:path}": lambda store, project: store.long_run(project),
    "/lessons/{lesson:path}": lambda store, project: _first(store, project, "list_lessons"),
    "/commands/{command:path}": lambda store, project: _first(store, project, "list_commands"),
    "/patterns/{pattern:path}": lambda store, project: _first(store, project, "list_patterns"),
    "/memories/{memory:path}": lambda store, project: _first(store, project, "list_memories"),
    "/criteria/{criterion:path}": lambda store, project: _first(store, project, "list_criteria"),
}


def _first(store: ShownStore, project: str, call: str) -> str:
    """Return the id of the first entry of a list."""
    with store.calls(project):
        entry = getattr(trackrecord, call)()[0]
    return str(entry.name if call == "list_criteria" else entry.id)


def addresses(store: ShownStore, project: str, **query: str) -> Iterator[str]:
    """Yield the address of every page, of one project.

    Args:
        store: where ids are found.
        project: whose pages.
        query: further parameters.
    """
    parameters = urlencode({"project": project, **query})
    for view in VIEWS:
        path = view.path
        if "{" in path:
            before, _, rest = path.partition("{")
            after = rest.partition("}")[2]
            path = f"{before}{quote(EXAMPLES[view.path](store, project), safe='')}{after}"
        yield f"{path}?{parameters}"
