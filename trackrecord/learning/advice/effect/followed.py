"""Following an entry of advice: doing what it says."""

from collections.abc import Mapping

from ...text.slug import ANTI_PREFIX
from .. import entry_ids
from ..runs.runs import NotedRun


def is_followed(entry: str, run: NotedRun, tools_of: Mapping[str, frozenset[str]]) -> bool | None:
    """Return whether a run followed an entry; None if its calls cannot show it.

    A pattern is followed by naming it, a procedure by using all of its tools; a warning is followed
    by doing neither.

    Args:
        entry: its id, as it was handed out.
        run: the run.
        tools_of: the tools of records, by id.
    """
    if entry.startswith(entry_ids.FAILING):
        return run.tools != frozenset(entry.removeprefix(entry_ids.FAILING).split("+"))
    if entry in tools_of:
        return tools_of[entry] <= run.tools
    if ":" in entry:  # of a field whose entries no run names
        return None
    if entry.startswith(ANTI_PREFIX):
        return entry.removeprefix(ANTI_PREFIX) not in run.patterns
    return entry in run.patterns
