"""How Alembic reaches the database: over the connection that migrate() holds the lock with."""

from alembic import context

from trackrecord.store import competence_tables  # noqa: F401 - registers its tables
from trackrecord.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    # migrate() commits.
    transactional_ddl=False,
)
context.run_migrations()
