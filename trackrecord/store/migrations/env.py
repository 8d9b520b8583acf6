"""How Alembic reaches the database: over the connection that migrate() holds the lock with."""

from alembic import context

from trackrecord.store import (  # noqa: F401 - each registers its tables
    competence_tables,
    criteria_tables,
    decision_tables,
    memory_tables,
)
from trackrecord.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    # migrate() commits.
    transactional_ddl=False,
)
context.run_migrations()
