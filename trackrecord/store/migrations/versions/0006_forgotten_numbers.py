"""Changes of state without numbers, where some of what they counted is forgotten."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "forgotten_numbers"
down_revision = "plain_outcomes"
branch_labels = None
depends_on = None

_COUNTS = ("helpful", "neutral", "harmful")


def upgrade() -> None:
    """Apply."""
    with op.batch_alter_table("pattern_transitions") as altered:
        for name in (*_COUNTS, "decayed_helpful", "decayed_harmful"):
            kind: type[sa.types.TypeEngine[Any]] = sa.BigInteger if name in _COUNTS else sa.Double
            altered.alter_column(name, existing_type=kind, nullable=True)
