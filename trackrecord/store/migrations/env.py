"""The connection of Alembic: the one that holds the lock of migrate().

A store without tables gets those of the metadata and the newest revision; the revisions are for
stores that an earlier version made.
"""

from alembic import context
from sqlalchemy import inspect

from trackrecord.errors import StoreUnfit

# Imported for the indexes that each of them adds to the metadata.
from trackrecord.store.competences import partial_indexes as _of_competences  # noqa: F401 - as said above
from trackrecord.store.database.engine import dialect_of
from trackrecord.store.database.migrate import store_versions
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.memories import partial_indexes as _of_memories  # noqa: F401 - as said above
from trackrecord.store.memories.earlier import earlier_memories
from trackrecord.store.outcomes import partial_indexes as _of_outcomes  # noqa: F401 - as said above

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=True,
    # migrate() commits.
    transactional_ddl=False,
)
migration = context.get_context()
if migration.get_current_revision() is None:
    with earlier_memories(connection):
        if taken := {*metadata.tables} & {*inspect(connection).get_table_names()}:
            message = (
                f"the database has a table {min(taken)!r} of another program: name another "
                "database with TRACKRECORD_DATABASE_URL"
            )
            raise StoreUnfit(message)
        metadata.create_all(connection, checkfirst=False)
    store_versions.create(connection)
    migration.stamp(context.script, "head")
else:
    context.run_migrations()
dialect_of(connection).make_extras(connection)
