"""The index of feedback over a part of its table's rows.

Apart from the table: SQLAlchemy imports the whole of a database's dialect to check what an index
has of its own there, and only migrations need to know it. An index of one database alone is one of
the `ddl_extras` of its dialect.
"""

from sqlalchemy import Index, true

from .tables import feedback

Index(
    "ix_feedback_waiting",
    feedback.c.project_id,
    feedback.c.subject,
    feedback.c.name,
    # As queries say it: SQLite takes no index whose condition is spelled otherwise.
    sqlite_where=feedback.c.is_waiting == true(),
    postgresql_where=feedback.c.is_waiting,
)
