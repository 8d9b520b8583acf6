"""Bytes of the database by kind of row."""

from random import randbytes

from sqlalchemy import text

from tests.store.teaching import outcome, teach
from trackrecord.store.database.engine import reading
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.intake.status import _kind_of, read_bytes


def sizes(store):
    """The bytes by kind."""
    with reading(store) as connection:
        return read_bytes(connection)


def test_the_kinds_add_up_to_the_database(store):
    """More of a kind takes more, and the larger one comes first."""
    before = sizes(store)
    teach(
        store,
        [outcome(n, description=randbytes(1500).hex(), patterns=[f"p{n}"]) for n in range(400)],
    )
    after = sizes(store)
    assert after["total"] == sum(size for kind, size in after.items() if kind != "total")
    assert after["outcomes"] > 400 * 3000 > before["outcomes"]
    assert list(after)[:2] == ["total", "outcomes"]
    assert {"runs", "patterns", "indexes"} <= after.keys()
    if store.dialect.name == "sqlite":
        with reading(store) as connection:
            pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        assert after["total"] == pages * 16384


def test_tables_with_a_row_for_each_outcome_have_a_kind():
    """What grows is never "other"."""
    growing = {name for name, table in metadata.tables.items() if "outcome" in table.c}
    assert len(growing) > 5
    assert {name for name in growing if _kind_of(name) == "other"} == set()
