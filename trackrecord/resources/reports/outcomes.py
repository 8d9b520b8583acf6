"""Outcomes: which ones are on record."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, select

from trackrecord.store.outcomes.forgotten import forgotten_among
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.tables import outcomes

# Far below the number of parameters that a statement may have.
_CHUNK: Final = 500


def known_outcomes(
    connection: Connection, names: Iterable[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Return which of some outcomes would add nothing: those on record, and those forgotten.

    Args:
        connection: a reading transaction.
        names: the outcomes, each a project and an outcome_id.
    """
    wanted = set(names)
    by_project: dict[str, list[str]] = defaultdict(list)
    for project, outcome_id in sorted(wanted):
        by_project[project].append(outcome_id)
    on_record = {
        (project, outcome_id)
        for project, ids in by_project.items()
        for outcome_id in _known(connection, project, ids)
    }
    return on_record | forgotten_among(connection, "outcome", wanted)


def _known(connection: Connection, project: str, ids: list[str]) -> Iterable[str]:
    project_id = project_id_of(connection, project)
    if project_id is None:
        return
    for start in range(0, len(ids), _CHUNK):
        query = select(outcomes.c.outcome_id).where(
            outcomes.c.project_id == project_id,
            outcomes.c.outcome_id.in_(ids[start : start + _CHUNK]),
        )
        yield from connection.execute(query).scalars()
