"""The outcomes of each day, counted."""

import sqlalchemy as sa
from alembic import op

revision = "r0005_days"
down_revision = "r0005_exposures"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table, and count what is on record."""
    op.create_table(
        "outcome_days",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("outcomes", sa.BigInteger(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("without_verdict", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "day", name="pk_outcome_days"),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO outcome_days (project_id, day, outcomes, successes, without_verdict) "
        "SELECT project_id, CAST(floor(ended_at / 86400.0) AS BIGINT), count(*), "
        "sum(CASE WHEN success THEN 1 ELSE 0 END), "
        "sum(CASE WHEN success IS NULL THEN 1 ELSE 0 END) "
        "FROM outcomes WHERE replaced_at = 0 "
        "GROUP BY project_id, CAST(floor(ended_at / 86400.0) AS BIGINT)"
    )
