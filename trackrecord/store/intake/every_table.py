"""Every table of the store: importing this module fills the metadata.

The indexes over a part of a table's rows are here, and not beside their tables: for them SQLAlchemy
imports the whole of a database's dialect, and only migrations and transfers need to know them. An
index of one database alone is one of the `ddl_extras` of its dialect.
"""

from sqlalchemy import Index, true

from ..advice import tables as _advice  # noqa: F401 - for the metadata
from ..competences.tables import competence_credits, signatures
from ..database import access_tokens as _access_tokens  # noqa: F401 - as above
from ..database import leases as _leases  # noqa: F401 - as above
from ..database import moves as _moves  # noqa: F401 - as above
from ..database.metadata import metadata
from ..ledger import tables as _ledger  # noqa: F401 - as above
from ..memories.tables import memories, past_tasks
from ..outcomes import forgotten as _forgotten  # noqa: F401 - as above
from ..outcomes.tables import feedback
from ..patterns import tables as _patterns  # noqa: F401 - as above

__all__ = ["metadata"]

Index(
    "ix_signatures_changed",
    signatures.c.project_id,
    signatures.c.id,
    sqlite_where=signatures.c.changed,
    postgresql_where=signatures.c.changed,
)

Index(
    "ix_competence_credits_pending",
    competence_credits.c.competence_id,
    sqlite_where=competence_credits.c.is_pending,
    postgresql_where=competence_credits.c.is_pending,
)

Index(
    "ix_memories_unmarked",
    memories.c.project_id,
    sqlite_where=memories.c.position.is_(None),
    postgresql_where=memories.c.position.is_(None),
)

Index(
    "ix_past_tasks_waiting",
    past_tasks.c.outcome,
    sqlite_where=~past_tasks.c.is_indexed,
    postgresql_where=~past_tasks.c.is_indexed,
)

Index(
    "ix_feedback_waiting",
    feedback.c.project_id,
    feedback.c.subject,
    feedback.c.name,
    # As queries say it: SQLite takes no index whose condition is spelled otherwise.
    sqlite_where=feedback.c.is_waiting == true(),
    postgresql_where=feedback.c.is_waiting,
)
