"""How Alembic reaches the database: over the connection that migrate() holds the lock with."""

from alembic import context

# Imported for the tables and indexes that each of them adds to the metadata.
from trackrecord.store.advice import tables as _advice  # noqa: F401 - as said above
from trackrecord.store.competences import partial_indexes as _of_competences  # noqa: F401 - as said above
from trackrecord.store.competences import tables as _competences  # noqa: F401 - as said above
from trackrecord.store.criteria import tables as _criteria  # noqa: F401 - as said above
from trackrecord.store.database import leases as _leases  # noqa: F401 - as said above
from trackrecord.store.database.engine import dialect_of
from trackrecord.store.database.metadata import metadata
from trackrecord.store.memories import partial_indexes as _of_memories  # noqa: F401 - as said above
from trackrecord.store.memories import tables as _memories  # noqa: F401 - as said above
from trackrecord.store.outcomes import forgotten as _forgotten  # noqa: F401 - as said above
from trackrecord.store.outcomes import tables as _outcomes  # noqa: F401 - as said above
from trackrecord.store.patterns import tables as _patterns  # noqa: F401 - as said above

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
