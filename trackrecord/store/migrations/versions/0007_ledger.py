"""One ledger in the place of the sums of patterns, of criteria and of days."""

import sqlalchemy as sa
from alembic import op

from trackrecord.store.intake.earlier import criterion_feedback, fill, observations, take_patterns
from trackrecord.store.ledger.tables import items, receipts, totals

revision = "ledger"
down_revision = "forgotten_numbers"
branch_labels = None
depends_on = None

_HISTORY = ("pattern_transitions", "pattern_decisions", "pattern_tags")
_GONE = (
    "criterion_feedback", "criteria", "observations", "pattern_speakers", "patterns",
    "outcome_days", "removed_days",
)  # fmt: skip


def upgrade() -> None:
    """Apply."""
    connection = op.get_bind()
    op.add_column("projects", sa.Column("removed_from", sa.Double()))
    for table in (items, receipts, totals):
        table.create(connection)
    take_patterns(connection)
    for table in (observations, criterion_feedback):
        for index in table.indexes:
            index.create(connection)
    fill(connection)
    for name in _HISTORY:
        with op.batch_alter_table(name) as altered:
            altered.drop_constraint(f"fk_{name}_pattern_id", type_="foreignkey")
            altered.create_foreign_key(f"fk_{name}_pattern_id", "items", ["pattern_id"], ["id"])
    for name in _GONE:
        op.drop_table(name)
