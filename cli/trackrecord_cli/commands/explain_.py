"""`trackrecord explain`: why something stands where it stands."""

from contextlib import suppress

import click
from sqlalchemy import Connection

from trackrecord.errors import UnknownId
from trackrecord.factories import recogniser_of
from trackrecord.learning.criteria.explanation import explain_criterion
from trackrecord.learning.patterns.explanation import explain_pattern
from trackrecord.learning.text.explanation import Explanation
from trackrecord.prompt.presentation import present_pattern
from trackrecord.settings import Settings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.recorded_rules import rebuilds_due
from trackrecord.times import iso

from ..access import open_store, settings_for
from ..options import at_option, json_option, project_option
from ..screen import console, print_json
from .competences_ import explain_record
from .criteria_ import as_document as criterion_document
from .criteria_ import find_criterion, half_life_of
from .memories_ import explain_stored
from .patterns_ import as_document, find_standing

_CRITERION = "criterion:"


@click.command("explain")
@click.argument("some_id", metavar="ID")
@project_option
@at_option
@json_option
def command(some_id: str, project: str | None, at: float | None, *, as_json: bool) -> None:
    """Why a pattern, a criterion, a competence or a memory stands where it stands.

    Its numbers, the rule that decided, and what it would take to change. Where a pattern and a
    criterion share a name, `criterion:NAME` is the criterion.
    """
    settings, project = settings_for(project)
    with open_store(settings) as engine, reading(engine) as connection:
        numbers, explanation = _explain(connection, settings, project, some_id, at)
        due = _rebuild_due(connection, settings, project)
    if as_json:
        print_json({"id": some_id, "numbers": numbers, **_as_dict(explanation), "rebuild_due": due})
        return
    out = console()
    out.print(f"{some_id}", style="bold", markup=False)
    for line in explanation.because:
        out.print(f"  {line}", markup=False)
    if explanation.to_change:
        out.print("what would change it:", style="bold")
        for line in explanation.to_change:
            out.print(f"  {line}", markup=False)
    if due:
        out.print("a rebuild is due, these numbers are of other rules:", style="bold")
        for line in due:
            out.print(f"  {line}", markup=False)


def _rebuild_due(connection: Connection, settings: Settings, project: str) -> list[str]:
    project_id = project_id_of(connection, project)
    due = rebuilds_due(
        connection,
        settings.rules.recorded,
        settings.decay.half_life_days,
        project_id=project_id,
    )
    return list(due.get(project, ()))


def _explain(
    connection: Connection, settings: Settings, project: str, some_id: str, at: float | None
) -> tuple[dict[str, object], Explanation]:
    if some_id.startswith(_CRITERION):
        some_id = some_id.removeprefix(_CRITERION)
        return _explain_other(connection, settings, project, some_id, at)
    try:
        standing = find_standing(connection, settings, project, some_id, at)
    except UnknownId:
        return _explain_other(connection, settings, project, some_id, at)
    numbers = as_document(
        present_pattern(standing, recogniser_of(settings.rules).name_of, settings.texts)
    )
    return numbers, explain_pattern(settings.maturity, settings.antipatterns, standing)


def _explain_other(
    connection: Connection, settings: Settings, project: str, some_id: str, at: float | None
) -> tuple[dict[str, object], Explanation]:
    """A criterion by its name, else a memory or a competence record by its id."""
    try:
        criterion = find_criterion(connection, settings, project, some_id, at)
    except UnknownId:
        return _explain_memory_or_record(connection, settings, project, some_id, at)
    numbers = criterion_document(criterion, half_life_of(connection, settings, project))
    return numbers, explain_criterion(settings.criteria, criterion)


def _explain_memory_or_record(
    connection: Connection, settings: Settings, project: str, some_id: str, at: float | None
) -> tuple[dict[str, object], Explanation]:
    for explain in (explain_stored, explain_record):
        with suppress(UnknownId):
            return explain(connection, settings, project, some_id, at)
    when = "" if at is None else f" at {iso(at)}"
    message = (
        f"nothing in project {project!r} had the id {some_id!r}{when}; `patterns list`, "
        "`criteria list`, `competences list` and `memories list` show what there is"
    )
    raise UnknownId(message)


def _as_dict(explanation: Explanation) -> dict[str, list[str]]:
    return {"because": list(explanation.because), "to_change": list(explanation.to_change)}
