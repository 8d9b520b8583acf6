"""The worker's last counts of a project's runs, kept for the readers of large projects.

A part is any value that readers would otherwise count from all runs themselves. It is stored packed
and compressed, with what decides whether it still holds.
"""

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from trackrecord.learning.text.times import age_limit_s

from ..outcomes.forgotten import forgettings, share_projects
from ..outcomes.tables import outcomes, projects
from .tables import run_counts

# Of a project's outcomes, as large a share may have come, or have been amended, since.
_MOST_NEW = 0.02


class CountStamp(NamedTuple):
    """The state of a project when its runs were read to be counted.

    Attributes:
        project_id: whose runs.
        last_received: when the last of its records was received, seconds since the epoch.
        forgettings: how many acts of forgetting the store had seen, of any project.
        read_at: when, seconds since the epoch.
    """

    project_id: int
    last_received: float
    forgettings: int
    read_at: float


def count_stamp(connection: Connection, project_id: int, *, now: float) -> CountStamp:
    """Return the state of a project that a count in this transaction is about.

    To be called before the runs are read: PostgreSQL shows what is committed in between.
    """
    last = func.coalesce(func.max(outcomes.c.received_at), 0.0)
    query = select(last, _FORGETTINGS.scalar_subquery()).where(outcomes.c.project_id == project_id)
    return CountStamp(project_id, *connection.execute(query).one(), now)


_FORGETTINGS = select(func.count()).select_from(forgettings)


def write_counts(
    connection: Connection,
    project: str,
    counted: CountStamp,
    parts: Mapping[str, tuple[str, bytes]],
) -> None:
    """Replace what was counted before, unless something was forgotten since the runs were read.

    Args:
        connection: a writing transaction.
        project: the project's name.
        counted: the state of the project when its runs were read.
        parts: by name, the fingerprint of the rules and the value, packed.
    """
    share_projects(connection, [project])
    was_forgotten = connection.execute(_FORGETTINGS).scalar_one() != counted.forgettings
    is_there = select(projects.c.id).where(
        projects.c.id == counted.project_id, projects.c.name == project
    )
    if was_forgotten or connection.execute(is_there).first() is None:
        return
    drop_counts(connection, counted.project_id)
    connection.execute(
        insert(run_counts),
        [
            {
                "project_id": counted.project_id,
                "part": part,
                "counted_at": counted.read_at,
                "last_received": counted.last_received,
                "rules": rules,
                "data": data,
            }
            for part, (rules, data) in parts.items()
        ],
    )


def drop_counts(connection: Connection, project_id: int) -> None:
    """Delete what was counted from the runs of a project."""
    connection.execute(delete(run_counts).where(run_counts.c.project_id == project_id))


def counted_when(
    connection: Connection,
    project_id: int,
    part: str,
    *,
    rules: str,
    max_age_s: float,
    now: float,
) -> float | None:
    """Return when a part was counted, if it can still be shown; None if it is to be counted.

    It must have been counted by the same rules, and few outcomes may have come since or have been
    amended.

    Args:
        connection: a reading transaction.
        project_id: whose part.
        part: its name.
        rules: the fingerprint of the rules of today.
        max_age_s: the setting, see `age_limit_s`.
        now: seconds since the epoch.
    """
    query = (
        select(
            run_counts.c.counted_at,
            run_counts.c.last_received,
            projects.c.outcomes,
            projects.c.revision,
        )
        .join(projects, projects.c.id == run_counts.c.project_id)
        .where(
            run_counts.c.project_id == project_id,
            run_counts.c.part == part,
            run_counts.c.rules == rules,
        )
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        return None
    counted_at, last_received, number, revision = found
    if now - counted_at > age_limit_s(max_age_s, made_at=counted_at, changed_at=revision / 1000):
        return None
    too_many = (
        select(outcomes.c.received_at)
        .where(outcomes.c.project_id == project_id, outcomes.c.received_at > last_received)
        .offset(int(_MOST_NEW * number))
        .limit(1)
    )
    return counted_at if connection.execute(too_many).first() is None else None


def read_part(
    connection: Connection, project_id: int, part: str, *, counted_at: float
) -> bytes | None:
    """Return a part as it was packed; None if what was counted then is no longer on record."""
    query = select(run_counts.c.data).where(
        run_counts.c.project_id == project_id,
        run_counts.c.part == part,
        run_counts.c.counted_at == counted_at,
    )
    return connection.execute(query).scalar()
