"""The indexes of memories and past tasks over a part of a table's rows.

Apart from the tables: SQLAlchemy imports the whole of a database's dialect to check what an index
has of its own there, and only migrations need to know them. An index of one database alone is one
of the `ddl_extras` of its dialect.
"""

from sqlalchemy import Index

from .tables import memories, past_tasks

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
