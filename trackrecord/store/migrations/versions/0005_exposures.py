"""An index by which what a task was handed is found."""

from alembic import op

revision = "r0005_exposures"
down_revision = "r0005_tokens"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    op.create_index("ix_exposures_task", "exposures", ["project_id", "task_id", "at"])
