"""A column for the version that made or upgraded a store, told to one that does not know it."""

import sqlalchemy as sa
from alembic import op

revision = "made_by"
down_revision = "first_release"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("alembic_version", sa.Column("made_by", sa.String(64)))
