"""Partitions of PostgreSQL: bodies of outcomes by the month of receipt, dropped when it is over.

Bodies are the largest part of the store. They lie in a table of their own, `outcomes_bodies`, and
all else of an outcome in `outcomes_rows`, whose unique keys no partition could check. `outcomes` is
a view of both: whoever reads, updates or deletes need not know, and whoever reads no body does not
touch the partitions. Only the dialect's `bulk_insert` and `load` know: they write many rows.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Connection, Table, text

from .base import Extra

_VIEW: Final = "outcomes"
_ROWS: Final = "outcomes_rows"
BODIES: Final = "outcomes_bodies"
_OTHER: Final = f"{BODIES}_other"
_MONTHS_AHEAD: Final = 3
# While it is set, removed outcomes leave their bodies to the partition that will be dropped.
_LEAVES_BODIES: Final = "trackrecord.leaves_bodies"

_COLUMNS: Final = (
    "id", "project_id", "outcome_id", "task_id", "received_at", "ended_at", "success", "raw_score",
    "verdict", "names_criteria", "replaced_at",
)  # fmt: skip
_OF_VIEW: Final = ", ".join(
    f"(SELECT b.body FROM {BODIES} b WHERE b.outcome = o.id AND b.received_at = o.received_at)"
    " AS body"
    if name == "body"
    else f"o.{name}"
    for name in (*_COLUMNS[:9], "body", *_COLUMNS[9:])
)
_INSERTED: Final = ", ".join(f"NEW.{name}" for name in _COLUMNS[1:9])

SPLIT_OUTCOMES: Final = Extra(
    (_ROWS, BODIES),
    (
        # Once: where `outcomes` is still the table of the metadata, which has just been made.
        f"""
        DO $$ BEGIN
          IF (SELECT relkind FROM pg_class WHERE oid = '{_VIEW}'::regclass) = 'r' THEN
            ALTER TABLE {_VIEW} RENAME TO {_ROWS};
            CREATE TABLE {BODIES} (
              outcome bigint NOT NULL, received_at double precision NOT NULL, body bytea NOT NULL,
              PRIMARY KEY (outcome, received_at)
            ) PARTITION BY RANGE (received_at);
            CREATE TABLE {_OTHER} PARTITION OF {BODIES} DEFAULT;
            INSERT INTO {BODIES} SELECT id, received_at, body FROM {_ROWS};
            ALTER TABLE {_ROWS} DROP COLUMN body;
            CREATE VIEW {_VIEW} AS SELECT {_OF_VIEW} FROM {_ROWS} o;
          END IF;
        END $$
        """,
        f"""
        CREATE OR REPLACE FUNCTION {_ROWS}_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF current_setting('{_LEAVES_BODIES}', true) = 'on' THEN
            DELETE FROM {_OTHER} b USING gone
              WHERE b.outcome = gone.id AND b.received_at = gone.received_at;
          ELSE
            DELETE FROM {BODIES} b USING gone
              WHERE b.outcome = gone.id AND b.received_at = gone.received_at;
          END IF;
          RETURN NULL;
        END $$
        """,
        f"""
        CREATE OR REPLACE TRIGGER {_ROWS}_deleted AFTER DELETE ON {_ROWS}
          REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION {_ROWS}_deleted()
        """,
        f"""
        CREATE OR REPLACE FUNCTION {_VIEW}_inserted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          NEW.names_criteria := coalesce(NEW.names_criteria, false);
          NEW.replaced_at := coalesce(NEW.replaced_at, 0);
          INSERT INTO {_ROWS} ({", ".join(_COLUMNS[1:])})
            VALUES ({_INSERTED}, NEW.names_criteria, NEW.replaced_at) RETURNING id INTO NEW.id;
          INSERT INTO {BODIES} VALUES (NEW.id, NEW.received_at, NEW.body);
          RETURN NEW;
        END $$
        """,
        f"""
        CREATE OR REPLACE TRIGGER {_VIEW}_inserted INSTEAD OF INSERT ON {_VIEW}
          FOR EACH ROW EXECUTE FUNCTION {_VIEW}_inserted()
        """,
    ),
)


def stored_as(table: Table) -> str:
    """Return the name of the table that has a table's rows: `outcomes` is a view."""
    return _ROWS if table.name == _VIEW else table.name


def has_bodies(table: Table) -> bool:
    """Return whether the bodies of a table's rows lie in partitions."""
    return table.name == _VIEW


def replace_bodies(connection: Connection, rows: Sequence[tuple[int, bytes]]) -> None:
    """Replace the bodies of outcomes, by their ids."""
    connection.exec_driver_sql(
        f"UPDATE {BODIES} b SET body = given.body FROM unnest(%b::bigint[], %b::bytea[])"
        f" AS given(id, body) JOIN {_ROWS} o USING (id)"
        " WHERE b.outcome = o.id AND b.received_at = o.received_at",
        ([row for row, _ in rows], [body for _, body in rows]),
    )


def leave_bodies(connection: Connection) -> None:
    """Let outcomes that this transaction removes leave their bodies: their month is dropped later.

    Bodies of no month that there is a partition for are removed at once.
    """
    connection.execute(text(f"SET LOCAL {_LEAVES_BODIES} = 'on'"))


def delete_left_bodies(connection: Connection) -> None:
    """Delete all bodies whose outcomes were removed, before their months are dropped."""
    connection.execute(
        text(
            f"DELETE FROM {BODIES} b WHERE NOT EXISTS"
            f" (SELECT FROM {_ROWS} o WHERE o.id = b.outcome)"
        )
    )


def make_partitions(connection: Connection, now: float) -> int:
    """Make the partitions of this month and of those to come; return how many were missing."""
    there = {name for name, _, _ in _partitions(connection)}
    missing = [month for month in _months(now) if _name_of(month) not in there]
    for month in missing:
        start, end = _bounds_of(month)
        name = _name_of(month)
        # A body that came before its partition lies with the others: it is moved there.
        connection.execute(text(f"LOCK TABLE {BODIES} IN ACCESS EXCLUSIVE MODE"))
        connection.execute(text(f"CREATE TABLE {name} (LIKE {BODIES} INCLUDING ALL)"))
        connection.execute(
            text(
                f"WITH moved AS (DELETE FROM {_OTHER} WHERE received_at >= {start!r}"
                f" AND received_at < {end!r} RETURNING *) INSERT INTO {name} SELECT * FROM moved"
            )
        )
        connection.execute(
            text(
                f"ALTER TABLE {BODIES} ATTACH PARTITION {name} FOR VALUES FROM ({start!r})"
                f" TO ({end!r})"
            )
        )
    return len(missing)


def drop_partitions(connection: Connection, now: float) -> list[str]:
    """Drop the months before this one of which no outcome is left; return the partitions' names."""
    (this_month, *_) = _months(now)
    before = _bounds_of(this_month)[0]
    old = [each for each in _partitions(connection) if each[2] <= before]
    dropped = []
    for name, start, end in old:
        if _is_used(connection, start, end):
            continue
        # Whoever records an outcome of that month at this moment has the table locked until then.
        connection.execute(text(f"LOCK TABLE {BODIES} IN ACCESS EXCLUSIVE MODE"))
        if not _is_used(connection, start, end):
            connection.execute(text(f"DROP TABLE {name}"))
            dropped.append(name)
    return dropped


def _is_used(connection: Connection, start: float, end: float) -> bool:
    query = text(
        f"SELECT EXISTS (SELECT FROM projects p WHERE EXISTS (SELECT FROM {_ROWS} o"
        " WHERE o.project_id = p.id AND o.received_at >= :start AND o.received_at < :end))"
    )
    return bool(connection.execute(query, {"start": start, "end": end}).scalar())


def _partitions(connection: Connection) -> list[tuple[str, float, float]]:
    """Return the months that there are, oldest first, each with its bounds."""
    query = text(
        "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
        f" WHERE i.inhparent = '{BODIES}'::regclass ORDER BY c.relname"
    )
    names = [name for name in connection.execute(query).scalars() if name != _OTHER]
    return [(name, *_bounds_of(_month_of(name))) for name in names]


# A month: how many have passed since the year 0.
def _months(now: float) -> range:
    moment = datetime.fromtimestamp(now, UTC)
    this = moment.year * 12 + moment.month - 1
    return range(this, this + _MONTHS_AHEAD)


def _name_of(month: int) -> str:
    return f"{BODIES}_{month // 12:04}_{month % 12 + 1:02}"


def _month_of(name: str) -> int:
    year, month = name.removeprefix(f"{BODIES}_").split("_")
    return int(year) * 12 + int(month) - 1


def _bounds_of(month: int) -> tuple[float, float]:
    start, end = (
        datetime(each // 12, each % 12 + 1, 1, tzinfo=UTC).timestamp()
        for each in (month, month + 1)
    )
    return start, end
