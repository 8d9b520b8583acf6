"""A database of the version before keeps all it holds, and learns what it could not know yet.

`written_by_0002.json` has the rows that the code of that version really wrote: records with their
history, outcomes that name a record (one of them an episode of it that was consolidated, one that
waits), one that names none that exists, two projects, a decision by hand.
"""

import base64
import json
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import MetaData, func, select, text
from teaching import NOW

from trackrecord.learning.competences.record import competence_id
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.competences.read import read_competence, read_history
from trackrecord.store.competences.select import select_competences
from trackrecord.store.database import migrate
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord_consolidation.run import consolidate

WRITTEN = json.loads(Path(__file__).with_name("written_by_0002.json").read_text(encoding="utf-8"))
SOME_ID = competence_id("default", "edit+run_tests")
RULES = CompetenceRules()


def _value(value):
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


def as_the_version_before_left_it(engine):
    """The tables of revision 0002, with what its code wrote."""
    config = Config()
    config.set_main_option("script_location", str(migrate._MIGRATIONS))
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        tables = MetaData()
        tables.reflect(connection)
        for table in tables.sorted_tables:
            rows = WRITTEN.get(table.name, [])
            if not rows:
                continue
            connection.execute(
                table.insert(), [{key: _value(each) for key, each in row.items()} for row in rows]
            )
            if (
                "id" in table.c
                and engine.dialect.name == "postgresql"
                and table.name != "competences"
            ):
                sequence = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), 1000)"
                connection.execute(text(sequence))


def everything(engine, names):
    """All rows of tables, in a form that can be compared."""
    with reading(engine) as connection:
        tables = MetaData()
        tables.reflect(connection, only=list(names))
        return {
            name: sorted(map(str, connection.execute(select(tables.tables[name])).all()))
            for name in names
        }


@pytest.fixture
def upgraded(empty_store_url):
    """An engine of that database, upgraded."""
    engine = connect_store(empty_store_url, timeout_s=20.0)
    as_the_version_before_left_it(engine)
    before = everything(engine, WRITTEN)
    assert migrate.migrate(engine) is True
    after = everything(engine, WRITTEN)
    for name in WRITTEN:
        # A later version may add columns, at the end of a table's rows.
        assert len(after[name]) == len(before[name])
    for name in ("competences", "competence_history", "episodes", "signatures"):
        assert after[name] == before[name]
    yield engine
    engine.dispose()


def test_nothing_is_lost(upgraded):
    """Records, their history, and what was true in the past."""
    with reading(upgraded) as connection:
        entries = read_history(connection, 1, SOME_ID)
        assert [each.action for each in entries] == ["created", "reinforced"]
        past = read_competence(connection, 1, SOME_ID, at=NOW - 75)
        assert (past.performance.success_count, past.performance.failure_count) == (3, 1)
        counted = connection.execute(select(func.count()).select_from(text("outcomes"))).scalar()
        assert counted == len(WRITTEN["outcomes"])


def test_outcomes_that_named_a_record_are_credited(upgraded):
    """Each once: the one that consolidation had counted as an episode is counted there."""
    with reading(upgraded) as connection:
        record = read_competence(connection, 1, SOME_ID)
    # Four episodes of the record's own, one of them failed; "own" is a fifth; "used", "failed"
    # and "waits" are credited.
    performance = record.performance
    assert (performance.success_count, performance.failure_count) == (6, 2)
    assert performance.last_used_at == NOW - 40
    consolidate(upgraded, RULES, "default", now=NOW, actor="test")
    with reading(upgraded) as connection:
        followed = read_competence(connection, 1, SOME_ID)
    assert followed.performance == performance


def test_records_can_be_selected(upgraded):
    """By their words, in both projects."""
    with reading(upgraded) as connection:
        chosen = select_competences(
            connection, 1, RULES, task="The red build", limit=5, now=NOW
        ).candidates
        assert [each.record.id for each in chosen] == [SOME_ID]
        assert chosen[0].signals.applicability == pytest.approx((2 / 3) ** 0.5)
        (other,) = select_competences(
            connection, 2, RULES, task="构建 lint", limit=5, now=NOW
        ).candidates
    assert other.signals.applicability == pytest.approx(1.0)
