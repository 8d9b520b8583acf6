"""A table that lists of runs are filtered by."""

import sqlalchemy as sa
from alembic import op

from trackrecord.store.advice.runs import list_again

revision = "listed_runs"
down_revision = "made_by"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "listed_runs",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("marks", sa.Text(), nullable=False),
        sa.Column("replaced_at", sa.Double()),
        sa.Column("task_text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "ended_at", "outcome"),
        sqlite_with_rowid=False,
    )
    list_again(op.get_bind())
