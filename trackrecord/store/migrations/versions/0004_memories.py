"""Memories, with the indexes that find them, and past tasks."""

import time
import uuid

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OLD = "memories_before"


def upgrade() -> None:
    """Apply."""
    had_memories = sa.inspect(op.get_bind()).has_table("memories")
    if had_memories:
        op.rename_table("memories", _OLD)
    _make_tables()
    _make_word_indexes()
    if had_memories:
        _take_over()
        op.drop_table(_OLD)


def _make_tables() -> None:
    op.create_table(
        "memories",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("memory_id", sa.String(length=128), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("last_recalled_at", sa.Double(), nullable=True),
        sa.Column("superseded_by", sa.String(length=128), nullable=True),
        sa.Column("changes", sa.Integer(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.Column("standing", sa.Double(), nullable=False),
        sa.Column("size_class", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_memories_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memories")),
        sa.UniqueConstraint("project_id", "memory_id", name=op.f("uq_memories_project_id")),
    )
    op.create_index(
        "ix_memories_position", "memories", ["project_id", "size_class", "position"], unique=True
    )
    op.create_index("ix_memories_created", "memories", ["project_id", "created_at", "id"])
    op.create_index("ix_memories_standing", "memories", ["project_id", "standing"])
    op.create_index("ix_memories_superseded", "memories", ["project_id", "superseded_by"])
    op.create_index(
        "ix_memories_unmarked",
        "memories",
        ["project_id"],
        sqlite_where=sa.text("position IS NULL"),
        postgresql_where=sa.text("position IS NULL"),
    )
    op.create_table(
        "memory_sources",
        sa.Column("memory", ID, nullable=False),
        sa.Column("source", sa.String(length=256), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["memory"], ["memories.id"], name=op.f("fk_memory_sources_memory"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("memory", "source", name=op.f("pk_memory_sources")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "memory_changes",
        sa.Column("memory", ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("because_of", sa.String(length=128), nullable=True),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("last_recalled_at", sa.Double(), nullable=True),
        sa.Column("superseded_by", sa.String(length=128), nullable=True),
        sa.ForeignKeyConstraint(
            ["memory"], ["memories.id"], name=op.f("fk_memory_changes_memory"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("memory", "number", name=op.f("pk_memory_changes")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "memory_blocks",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("size_class", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("planes", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_memory_blocks_project_id")
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "size_class", "number", name=op.f("pk_memory_blocks")
        ),
    )
    op.create_table(
        "past_tasks",
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("instruction", sa.Text(), nullable=False),
        sa.Column("is_indexed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("outcome", name=op.f("pk_past_tasks")),
    )
    op.create_index("ix_past_tasks_project", "past_tasks", ["project_id", "outcome"])
    op.create_index(
        "ix_past_tasks_waiting",
        "past_tasks",
        ["outcome"],
        sqlite_where=sa.text("is_indexed = 0"),
        postgresql_where=sa.text("NOT is_indexed"),
    )


def _make_word_indexes() -> None:
    for name in ("memory_words", "task_words"):
        if op.get_bind().dialect.name == "sqlite":
            op.execute(
                f"CREATE VIRTUAL TABLE {name} USING fts5(words, content='', tokenize='ascii')"
            )
            op.execute(f"CREATE VIRTUAL TABLE {name}_count USING fts5vocab({name}, 'row')")
        else:
            op.execute(f"CREATE TABLE {name} (id bigint PRIMARY KEY, words tsvector NOT NULL)")
            op.execute(
                f"CREATE INDEX ix_{name} ON {name} USING gin (words) WITH (fastupdate = off)"
            )
    if op.get_bind().dialect.name != "sqlite":
        # Bits that are read and written whole: to compress them costs more than it saves.
        op.execute("ALTER TABLE memory_blocks ALTER COLUMN planes SET STORAGE EXTERNAL")


def _take_over() -> None:
    """Memories from before any of this: of type memory, with no source unless one is told.

    Their trigrams and words are marked when the project is next asked for memories.
    """
    connection = op.get_bind()
    old = sa.Table(_OLD, sa.MetaData(), autoload_with=connection)
    now = time.time()
    for number, row in enumerate(connection.execute(sa.select(old)).mappings()):
        text = str(row.get("text") or row.get("content") or "").strip()
        if not text:
            continue
        created_at = row.get("created_at")
        at = float(created_at) if isinstance(created_at, (int, float)) else now
        confidence = row.get("confidence")
        trusted = 0.5 if confidence is None else min(1.0, max(0.01, float(confidence)))
        given = str(row.get("memory_id") or row.get("id") or "")
        memory_id = given if 0 < len(given) <= 128 else uuid.uuid4().hex
        values = {
            "project": _project_of(connection, str(row.get("project") or "default")[:128]),
            "memory_id": memory_id,
            "text": text,
            "confidence": trusted,
            "at": at,
            "row": number + 1,
        }
        connection.execute(
            sa.text(
                "INSERT INTO memories (id, project_id, memory_id, text, type, confidence,"
                " created_at, changes, changed_at, standing, size_class) VALUES"
                " (:row, :project, :memory_id, :text, 'memory', :confidence, :at, 1, :at, 0, 0)"
            ),
            values,
        )
        connection.execute(
            sa.text(
                "INSERT INTO memory_changes (memory, number, at, action, type, confidence)"
                " VALUES (:row, 1, :at, 'stored', 'memory', :confidence)"
            ),
            values,
        )
    if connection.dialect.name == "postgresql":
        connection.execute(
            sa.text(
                "SELECT setval(pg_get_serial_sequence('memories', 'id'),"
                " (SELECT greatest(max(id), 1) FROM memories))"
            )
        )


def _project_of(connection: sa.Connection, name: str) -> int:
    find = sa.text("SELECT id FROM projects WHERE name = :name")
    found = connection.execute(find, {"name": name}).scalar()
    if found is None:
        connection.execute(
            sa.text(
                "INSERT INTO projects (name, revision, outcomes, successes) VALUES (:name, 0, 0, 0)"
            ),
            {"name": name},
        )
        found = connection.execute(find, {"name": name}).scalar()
    return int(found or 0)
