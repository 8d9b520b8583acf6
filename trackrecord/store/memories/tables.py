"""The tables of memories, and of past tasks that can be found again.

The full-text indexes beside them (`memory_words` and `task_words`) differ by database: they are
its dialect's `ddl_extras`.
"""

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
)

from ..database.metadata import Id, columns, keyed_table, table

memories = table(
    "memories",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("memory_id", String(128), nullable=False),
    # As it was stored; that of a known pitfall is shown with its prefix.
    Column("text", Text, nullable=False),
    Column("type", String(16), nullable=False),
    *columns("confidence created_at", Double, nullable=False),
    Column("last_recalled_at", Double),
    # The id of the newer memory that contradicts it.
    Column("superseded_by", String(128)),
    # The number of its last row in memory_changes.
    Column("changes", Integer, nullable=False),
    # When that was.
    Column("changed_at", Double, nullable=False),
    # In whose order memories stand by effective confidence, whatever the moment.
    Column("standing", Double, nullable=False),
    # Where its trigrams are marked in memory_blocks; the position is None until they are.
    Column("size_class", Integer, nullable=False),
    Column("position", Integer),
    UniqueConstraint("project_id", "memory_id"),
    Index("ix_memories_position", "project_id", "size_class", "position", unique=True),
    Index("ix_memories_created", "project_id", "created_at", "id"),
    Index("ix_memories_standing", "project_id", "standing"),
    Index("ix_memories_superseded", "project_id", "superseded_by"),
)

# Who said so; a memory that several agents stored has several.
memory_sources = keyed_table(
    "memory_sources",
    Column("memory", ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    Column("source", String(256), primary_key=True),
    Column("at", Double, nullable=False),
)

# Every change of every memory, and how it then stood: what the past is answered from.
memory_changes = keyed_table(
    "memory_changes",
    Column("memory", ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    # Never before that of the row before it.
    Column("at", Double, nullable=False),
    Column("action", String(16), nullable=False),
    # The outcome that confirmed or rejected it, or the memory that superseded it.
    Column("because_of", String(128)),
    Column("type", String(16), nullable=False),
    Column("confidence", Double, nullable=False),
    Column("last_recalled_at", Double),
    Column("superseded_by", String(128)),
)

# Bits of trigrams by which similar texts are found, see learning/memories/trigrams.py.
memory_blocks = table(
    "memory_blocks",
    Column("project_id", ForeignKey("projects.id"), primary_key=True, autoincrement=False),
    *columns("size_class number", Integer, primary_key=True, autoincrement=False),
    Column("planes", LargeBinary, nullable=False),
)

# Outcomes whose task's text is known.
past_tasks = table(
    "past_tasks",
    Column("outcome", Id, primary_key=True, autoincrement=False),
    Column("project_id", Id, nullable=False),
    # Its beginning, where it is long.
    Column("instruction", Text, nullable=False),
    Column("is_indexed", Boolean, nullable=False),
    Index("ix_past_tasks_project", "project_id", "outcome"),
)
