"""Migrations: from nothing, once, by whoever comes first; the schema is that of the tables."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from trackrecord.errors import NoVectors, SchemaTooNew, SettingsError, StoreUnfit
from trackrecord.store.competences.selection.vectors import make_room
from trackrecord.store.database import migrate
from trackrecord.store.database.engine import connect_store, dialect_of, reading, writing
from trackrecord.store.intake.every_table import metadata

FOLDER = Path(migrate.__file__).parents[1] / "migrations"


def test_head_is_the_newest_migration():
    """It is read from the files, which spares every start the import of Alembic."""
    assert ScriptDirectory(str(FOLDER)).get_current_head() == migrate.newest_revision()


def test_every_store_is_opened_in_one_place():
    """Whoever opens one itself forgets to migrate it, or to close it."""
    root = Path(migrate.__file__).parents[3]
    folders = ("trackrecord", "producers", "worker", "consolidation", "capture", "door", "cli")
    modules = [path for folder in folders for path in (root / folder).rglob("*.py")]
    opening = {path.name for path in modules if "connect_store(" in path.read_text()}
    assert opening == {"engine.py", "migrate.py"}


def test_the_migrated_schema_is_that_of_the_tables(store):
    """Nothing is in the one that is not in the other, but for what only one database has."""
    assert differences(store) == []


def test_the_table_of_vectors_is_one_that_only_one_database_has(store):
    """It is made when it is first needed, after which the schema is still as it should be."""
    if dialect_of(store).vectors is None:
        with pytest.raises(NoVectors):
            make_room(store)
        return
    make_room(store)
    with reading(store) as connection:
        assert "text_vectors" in inspect(connection).get_table_names()
    assert differences(store) == []


def differences(store):
    """Return the differences between the schema and the tables of the metadata, both ways."""
    dialect = dialect_of(store)

    extras = (*dialect.ddl_extras, *((dialect.vectors,) if dialect.vectors else ()))
    # What a full-text index is made of begins with its name.
    others = tuple(each for extra in extras for each in extra.names)

    def is_described(name, kind, _parents):
        return kind not in ("table", "index") or not name.startswith(others)

    with reading(store) as connection:
        views = inspect(connection).get_view_names()

        def is_a_table(_object, name, kind, _is_reflected, _other):
            return kind != "table" or name not in views

        opts = {
            "compare_type": True,
            "include_name": is_described,
            "include_object": is_a_table,
        }
        context = MigrationContext.configure(connection, opts=opts)
        return compare_metadata(context, metadata) + [
            difference for name in views for difference in differences_of_view(connection, name)
        ]


def differences_of_view(connection, name):
    """Return the differences between a view and the table that it replaces."""
    described = metadata.tables[name]
    found = {each["name"]: each["type"] for each in inspect(connection).get_columns(name)}
    wanted = {column.name: column.type.compile(connection.dialect) for column in described.columns}
    if {each: str(kind.compile(connection.dialect)) for each, kind in found.items()} != wanted:
        yield name, found
    indexes = {each["name"] for each in inspect(connection).get_indexes(f"{name}_rows")}
    if not {index.name for index in described.indexes} <= indexes:
        yield name, indexes


def test_migrating_again_does_nothing(store):
    """A start with nothing to migrate says so."""
    assert migrate.migrate(store) is False


@pytest.mark.parametrize("revision", ["9999", "0004", "r0001", "r0006_speakers"])
def test_an_unknown_database_is_refused_in_one_clear_line(store, revision):
    """An old version must not write into tables it does not know, nor a new one into a draft's."""
    with writing(store) as connection:
        change = "UPDATE alembic_version SET version_num = :v, made_by = NULL"
        connection.execute(text(change), {"v": revision})
    said = f"from before the first release.*{revision}.*name another"
    with pytest.raises(SchemaTooNew, match=said) as raised:
        migrate.migrate(store)
    assert "\n" not in str(raised.value)
    with reading(store) as connection:
        version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    assert version == revision


def test_a_database_of_another_program_is_left_alone(empty_store_url):
    """A table that has the name of one of ours is neither used nor changed."""
    engine = connect_store(empty_store_url)
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE projects (name TEXT)"))
    with pytest.raises(StoreUnfit, match="a table 'projects' of another program: name another"):
        migrate.migrate(engine)
    with reading(engine) as connection:
        assert inspect(connection).get_table_names() == ["projects"]
    engine.dispose()


def test_a_database_of_another_kind_is_refused_in_one_clear_line():
    """Before anything is asked of it."""
    with pytest.raises(SettingsError, match="mysql is not a supported database; use one of"):
        connect_store("mysql://somewhere/trackrecord")


def test_what_only_one_database_has_is_made_again_where_it_is_missing(store):
    """A migration of tomorrow may add to it, without knowing which databases there are."""
    with writing(store) as connection:
        dialect_of(connection).make_extras(connection)
        names = [name for extra in dialect_of(connection).ddl_extras for name in extra.names]
    assert names
    with reading(store) as connection:
        there = {*inspect(connection).get_table_names()}
    assert {"memory_words", "task_words"} <= there
