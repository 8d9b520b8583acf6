"""Whose word each verdict on a pattern is, and the sums of each speaker."""

import sqlalchemy as sa
from alembic import op

revision = "r0006_speakers"
down_revision = "r0005_days"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table and the columns; a rebuild fills them from the outcomes on record."""
    op.add_column(
        "observations",
        sa.Column("speaker", sa.String(300), nullable=False, server_default=""),
    )
    op.add_column(
        "observations",
        sa.Column("is_claim", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    counts = ("helpful", "neutral", "harmful", "succeeded", "feedback")
    sums = ("helpful_sum", "harmful_sum", "helpful_claimed_sum", "harmful_claimed_sum")
    op.create_table(
        "pattern_speakers",
        sa.Column("pattern_id", ID, autoincrement=False, nullable=False),
        sa.Column("speaker", sa.String(300), nullable=False),
        sa.Column("project_id", ID, nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in counts),
        *(sa.Column(name, sa.Double(), nullable=False) for name in sums),
        sa.PrimaryKeyConstraint("pattern_id", "speaker", name="pk_pattern_speakers"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_pattern_speakers_project", "pattern_speakers", ["project_id", "speaker"])
    # Until a rebuild all on record counts as the word of one speaker, as it did.
    op.execute(
        "INSERT INTO pattern_speakers (pattern_id, speaker, project_id, helpful, neutral, harmful, "
        "succeeded, feedback, helpful_sum, harmful_sum, helpful_claimed_sum, harmful_claimed_sum) "
        "SELECT id, '', project_id, helpful, neutral, harmful, succeeded, feedback, helpful_sum, "
        "harmful_sum, 0.0, 0.0 FROM patterns WHERE helpful + neutral + harmful > 0"
    )
