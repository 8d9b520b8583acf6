"""Rules that a project's recorded numbers were computed by, and what its sums are relative to."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, select, update

from trackrecord.learning.numbers.decay import Bases, HalfLives
from trackrecord.learning.outcomes.recorded_rules import Recorded, RecordedRules, why_rebuild

from ..database.upsert import insert_rows
from .tables import decay_bases, projects, recorded_rules


def bases_of(row: Row[Any]) -> Bases:
    """Return the bases in a row of their table."""
    patterns, criteria = row.half_life_days, row.criteria_half_life_days
    return Bases(HalfLives(patterns, patterns if criteria is None else criteria), row.landmark)


def row_of(project_id: int, bases: Bases) -> tuple[object, ...]:
    """Return the row of a project's bases, its values in the order of the table."""
    half_lives = bases.half_lives
    own = None if half_lives.criteria == half_lives.patterns else half_lives.criteria
    return project_id, half_lives.patterns, bases.landmark, own


def read_bases(connection: Connection, project_id: int) -> Bases | None:
    """The bases of a project's sums, None before its first outcome."""
    query = select(decay_bases).where(decay_bases.c.project_id == project_id)
    row = connection.execute(query).one_or_none()
    return bases_of(row) if row else None


def held_bases(
    connection: Connection, project_ids: Iterable[int], *, alone: bool = False
) -> dict[int, Bases]:
    """The bases of projects that have them, held until the transaction ends.

    Others may hold them too, unless `alone`; a rebuild, which replaces them, waits.
    """
    query = (
        select(decay_bases)
        .where(decay_bases.c.project_id.in_(sorted(project_ids)))
        .order_by(decay_bases.c.project_id)
        .with_for_update(read=not alone)
    )
    return {row.project_id: bases_of(row) for row in connection.execute(query)}


def hold_bases(connection: Connection, project_id: int) -> Bases | None:
    """Keep a rebuild of the project from beginning until the transaction ends."""
    return held_bases(connection, [project_id]).get(project_id)


def replace_bases(connection: Connection, project_id: int, bases: Bases) -> None:
    """Set a project's bases; all its sums must be recomputed in the same transaction."""
    connection.execute(delete(decay_bases).where(decay_bases.c.project_id == project_id))
    row = row_of(project_id, bases)
    insert_rows(connection, decay_bases, tuple(decay_bases.c), [row])


def note_rules(connection: Connection, project_ids: Collection[int], rules: RecordedRules) -> None:
    """Outcomes of these projects are being learnt by these rules.

    Args:
        connection: within a writing transaction that holds the projects' bases.
        project_ids: projects that get new outcomes.
        rules: what they are learnt by.
    """
    if not project_ids:
        return
    text = rules.as_json()
    known = _read(connection, project_ids)
    missing = sorted(set(project_ids) - known.keys())
    if missing:
        rows = [(project_id, text, False) for project_id in missing]
        insert_rows(connection, recorded_rules, tuple(recorded_rules.c), rows)
        known = _read(connection, project_ids)  # another worker may have been first
    for project_id, (noted, mixed) in sorted(known.items()):
        if noted != text and not mixed and not rules.gave(noted):
            connection.execute(
                update(recorded_rules)
                .where(recorded_rules.c.project_id == project_id)
                .values(mixed=True)
            )


def replace_rules(connection: Connection, project_id: int, rules: RecordedRules) -> None:
    """All that is recorded of a project was computed by these rules, in this transaction."""
    connection.execute(delete(recorded_rules).where(recorded_rules.c.project_id == project_id))
    row = (project_id, rules.as_json(), False)
    insert_rows(connection, recorded_rules, tuple(recorded_rules.c), [row])


def rebuilds_due(
    connection: Connection,
    rules: RecordedRules,
    half_lives: HalfLives,
    *,
    project_id: int | None = None,
    most: int | None = None,
) -> dict[str, tuple[str, ...]]:
    """Return why a rebuild is due, by project; projects that need none are missing.

    Args:
        connection: a reading transaction.
        rules: those of the settings.
        half_lives: those of the settings.
        project_id: only this project.
        most: only so many projects, those that have been on record the longest.
    """
    query: Select[Any] = (
        select(
            projects.c.name,
            *decay_bases.c,
            recorded_rules.c.rules,
            recorded_rules.c.mixed,
        )
        .join(decay_bases, decay_bases.c.project_id == projects.c.id)
        .join(recorded_rules, recorded_rules.c.project_id == projects.c.id)
    )
    if project_id is not None:
        query = query.where(projects.c.id == project_id)
    if most is not None:
        query = query.order_by(projects.c.id).limit(most)
    noted = {
        row.name: Recorded(row.rules, row.mixed, bases_of(row).half_lives)
        for row in connection.execute(query)
    }
    # Most projects were learnt by the same rules.
    due = {each: why_rebuild(each, rules, half_lives) for each in set(noted.values())}
    return {name: due[each] for name, each in sorted(noted.items()) if due[each]}


def _read(connection: Connection, project_ids: Collection[int]) -> dict[int, tuple[str, bool]]:
    query = select(recorded_rules).where(recorded_rules.c.project_id.in_(sorted(project_ids)))
    return {row.project_id: (row.rules, row.mixed) for row in connection.execute(query)}
