"""The base of all tables: the engine, migrations, bulk inserts, locks."""
