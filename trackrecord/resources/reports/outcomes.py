"""Outcomes: which ones are on record."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, select

from trackrecord.store.outcomes.forgotten import forgotten_among
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.tables import outcomes, projects

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


def project_on_record(connection: Connection, outcome_id: str) -> str:
    """Return the project in which an outcome is on record, the first of several; "" if in none."""
    query = select(projects.c.name).join_from(outcomes, projects).order_by(outcomes.c.id).limit(1)
    every = outcomes.c.project_id.in_(select(projects.c.id))
    found = connection.execute(query.where(every, outcomes.c.outcome_id == outcome_id)).scalar()
    return found or ""


def outcomes_elsewhere(
    connection: Connection, names: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return those of some captured outcomes that are on record in another project, too.

    Args:
        connection: a reading transaction.
        names: the project of each, by its outcome_id; others have their own outcomes of that id.

    Returns:
        By the other project, the project of each outcome by its outcome_id.
    """
    query = select(projects.c.name, outcomes.c.outcome_id).join_from(outcomes, projects)
    every = outcomes.c.project_id.in_(select(projects.c.id))
    stand = query.where(every, outcomes.c.replaced_at == 0)
    wanted, found = list(names), defaultdict[str, set[str]](set)
    for start in range(0, len(wanted), _CHUNK):
        chunk = outcomes.c.outcome_id.in_(wanted[start : start + _CHUNK])
        for project, outcome_id in connection.execute(stand.where(chunk)):
            found[outcome_id].add(project)
    elsewhere: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for outcome_id, on_record in found.items():
        if names[outcome_id] in on_record:
            for project in on_record - {names[outcome_id]}:
                elsewhere[project][outcome_id] = names[outcome_id]
    return dict(elsewhere)


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
