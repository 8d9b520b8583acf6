"""Tokens that permit the use of the HTTP server."""

import sqlalchemy as sa
from alembic import op

revision = "r0005_tokens"
down_revision = "r0004_feedback"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "access_tokens",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("project", sa.String(128)),
        sa.Column("permission", sa.String(8), nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("last_used_at", sa.Double()),
        sa.Column("revoked_at", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_access_tokens"),
    )
