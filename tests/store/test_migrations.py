"""Migrations: from nothing, once, by whoever comes first; the schema is that of the tables."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from trackrecord.store.competences import tables as competence_tables
from trackrecord.store.database import migrate
from trackrecord.store.database.engine import connect_store, reading, writing

FOLDER = Path(migrate.__file__).parents[1] / "migrations"


def test_head_is_the_newest_migration():
    """The constant spares every start the import of Alembic; it must not lag behind."""
    assert ScriptDirectory(str(FOLDER)).get_current_head() == migrate.HEAD


def test_the_migrated_schema_is_that_of_the_tables(store):
    """Nothing is in the one that is not in the other."""
    with reading(store) as connection:
        opts = {"compare_type": True, "include_name": _is_described}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, competence_tables.metadata) == []


def _is_described(name, kind, _parents):
    """Each database has full-text indexes of its own kind, see word_index.py."""
    return kind != "table" or not name.startswith(("memory_words", "task_words"))


def test_migrating_again_does_nothing(store):
    """A start with nothing to migrate says so."""
    assert migrate.migrate(store) is False


def test_many_processes_may_start_at_once(empty_store_url):
    """One migrates, the others wait and find it done."""

    def start(_number):
        engine = connect_store(empty_store_url, timeout_s=20.0)
        try:
            return migrate.migrate(engine)
        finally:
            engine.dispose()

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(start, range(6))) == [False] * 5 + [True]


def test_a_newer_database_is_refused_in_one_clear_line(store):
    """An old version must not write into tables it does not know."""
    with writing(store) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(migrate.SchemaTooNew, match="newer trackrecord"):
        migrate.migrate(store)
