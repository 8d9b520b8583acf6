"""Feedback on one pattern, criterion or memory alone."""

import sqlalchemy as sa
from alembic import op

revision = "r0004_feedback"
down_revision = "r0004_forgetting"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table, and count feedback apart from the outcomes of a pattern."""
    op.create_table(
        "feedback",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("feedback_id", sa.String(128), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("given_at", sa.Double(), nullable=False),
        sa.Column("subject", sa.String(16), nullable=False),
        sa.Column("name", sa.String(160), nullable=False),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("is_waiting", sa.Boolean(), nullable=False),
        sa.Column("task_id", sa.String(256)),
        sa.Column("source", sa.String(256)),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_feedback_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
        sa.UniqueConstraint("project_id", "feedback_id", name="uq_feedback_project_id"),
    )
    op.create_index(
        "ix_feedback_name", "feedback", ["project_id", "subject", "name", "received_at"]
    )
    op.create_index(
        "ix_feedback_waiting",
        "feedback",
        ["project_id", "subject", "name"],
        sqlite_where=sa.text("is_waiting = 1"),
        postgresql_where=sa.text("is_waiting"),
    )
    for name in ("feedback", "helpful_feedback"):
        op.add_column(
            "patterns",
            sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        )
