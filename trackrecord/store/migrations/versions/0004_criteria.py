"""A half-life of their own for the sums of criteria, and tags of patterns."""

import sqlalchemy as sa
from alembic import op

revision = "r0004_criteria"
down_revision = "r0004_transfer"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add what an earlier version did without; its sums of criteria keep their half-life."""
    op.add_column("decay_bases", sa.Column("criteria_half_life_days", sa.Double()))
    op.create_table(
        "pattern_tags",
        sa.Column("id", ID, nullable=False),
        sa.Column("pattern_id", ID, sa.ForeignKey("patterns.id"), nullable=False),
        sa.Column("tag", sa.String(64), nullable=False),
        sa.Column("added_at", sa.Double(), nullable=False),
        sa.Column("removed_at", sa.Double()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_pattern_tags_pattern_id"), "pattern_tags", ["pattern_id"])
