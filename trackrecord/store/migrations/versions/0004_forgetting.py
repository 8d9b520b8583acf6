"""Marks of what was forgotten, and a record of each act of forgetting."""

import sqlalchemy as sa
from alembic import op

revision = "r0004_forgetting"
down_revision = "r0004_criteria"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the two tables."""
    op.create_table(
        "forgotten_ids",
        sa.Column("digest", sa.LargeBinary(16), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_forgotten_ids"),
    )
    op.create_table(
        "forgettings",
        sa.Column("id", ID, nullable=False),
        sa.Column("digest", sa.LargeBinary(16), nullable=False),
        sa.Column("what", sa.String(16), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double()),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_forgettings"),
    )
