"""The whole schema of a store in a form that can be compared, whichever way it came to be."""

from typing import Any

from sqlalchemy import Connection, Engine, inspect, text

from trackrecord.store.database.engine import reading

_ELSE_ON_POSTGRESQL = {
    "kinds": "SELECT relname, relkind, reloptions::text FROM pg_class"
    " WHERE relnamespace = 'public'::regnamespace",
    "storage": "SELECT attrelid::regclass::text || '.' || attname, attstorage::text, attidentity"
    " FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
    " WHERE attnum > 0 AND NOT attisdropped AND relnamespace = 'public'::regnamespace",
    "triggers": "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "functions": "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "constraints": "SELECT conrelid::regclass::text || '.' || conname, pg_get_constraintdef(oid)"
    " FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
}
_ELSE_ON_SQLITE = {
    # Full-text search is virtual tables, and the tables that these consist of.
    "virtual": "SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'",
    "triggers": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'",
    "kinds": "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'",
}


def schema_of(engine: Engine) -> dict[str, Any]:
    """Return tables, columns, types, defaults, keys, indexes and all else that has a name."""
    is_sqlite = engine.dialect.name == "sqlite"
    with reading(engine) as connection:
        found = {name: _table(connection, name) for name in inspect(connection).get_table_names()}
        for kind, query in (_ELSE_ON_SQLITE if is_sqlite else _ELSE_ON_POSTGRESQL).items():
            found[f"all {kind}"] = sorted(tuple(row) for row in connection.execute(text(query)))
    return found


def _table(connection: Connection, name: str) -> dict[str, Any]:
    inspector = inspect(connection)
    columns = {
        each["name"]: (str(each["type"]), each["nullable"], each["default"])
        for each in inspector.get_columns(name)
    }
    return {
        "columns": columns,
        "key": inspector.get_pk_constraint(name),
        "foreign keys": _sorted(inspector.get_foreign_keys(name)),
        "unique": _sorted(inspector.get_unique_constraints(name)),
        "checks": _sorted(inspector.get_check_constraints(name)),
        "indexes": [
            (each["name"], each["column_names"], each["unique"], _options(each))
            for each in _sorted(inspector.get_indexes(name))
        ],
    }


def _options(index: Any) -> dict[str, str]:
    return {name: str(value) for name, value in index.get("dialect_options", {}).items()}


def _sorted(found: Any) -> list[Any]:
    return sorted(found, key=lambda each: str(each["name"]))
