"""Outcomes: which ones are on record."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from trackrecord.store.database.parts import in_parts, in_parts_by_project
from trackrecord.store.outcomes.forgotten import forgotten_among
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.tables import outcomes, projects

# Far below the number of parameters that a statement may have.


def known_outcomes(
    connection: Connection, names: Iterable[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Return which of some outcomes would add nothing: those on record, and those forgotten.

    Args:
        connection: a reading transaction.
        names: the outcomes, each a project and an outcome_id.
    """
    wanted = set(names)
    on_record: set[tuple[str, str]] = set()
    for project, some in in_parts_by_project(wanted):
        own = outcomes.c.project_id == project_id_of(connection, project)
        query = select(outcomes.c.outcome_id).where(own, outcomes.c.outcome_id.in_(some))
        on_record.update((project, each) for each in connection.execute(query).scalars())
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
    found = defaultdict[str, set[str]](set)
    for some in in_parts(names):
        named = stand.where(outcomes.c.outcome_id.in_(some))
        for project, outcome_id in connection.execute(named):
            found[outcome_id].add(project)
    elsewhere: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for outcome_id, on_record in found.items():
        if names[outcome_id] in on_record:
            for project in on_record - {names[outcome_id]}:
                elsewhere[project][outcome_id] = names[outcome_id]
    return dict(elsewhere)
