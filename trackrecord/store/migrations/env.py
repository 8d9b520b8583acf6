"""The connection of Alembic: the one that holds the lock of migrate()."""

from alembic import context

# Imported for the indexes that each of them adds to the metadata.
from trackrecord.store.competences import partial_indexes as _of_competences  # noqa: F401 - as said above
from trackrecord.store.database.engine import dialect_of
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.memories import partial_indexes as _of_memories  # noqa: F401 - as said above
from trackrecord.store.outcomes import partial_indexes as _of_outcomes  # noqa: F401 - as said above

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=True,
    # migrate() commits.
    transactional_ddl=False,
)
context.run_migrations()
dialect_of(connection).make_extras(connection)
