"""Bodies of outcomes beside the rest of their rows, on PostgreSQL: they were in partitions."""

from alembic import op

revision = "plain_outcomes"
down_revision = "what_went"
branch_labels = None
depends_on = None

_GATHER = """
    UPDATE outcomes o SET body = b.body
    FROM outcomes_bodies b WHERE b.outcome = o.id AND b.received_at = o.received_at
"""


def upgrade() -> None:
    """Apply; bodies of outcomes that retention has removed are left behind."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for statement in (
        "DROP VIEW outcomes",
        "DROP TRIGGER outcomes_rows_deleted ON outcomes_rows",
        "DROP FUNCTION outcomes_rows_deleted(), outcomes_inserted()",
        "ALTER TABLE outcomes_rows RENAME TO outcomes",
        "ALTER TABLE outcomes ADD COLUMN body bytea NOT NULL DEFAULT ''",
        _GATHER,
        "ALTER TABLE outcomes ALTER COLUMN body DROP DEFAULT",
        "DROP TABLE outcomes_bodies",
    ):
        op.execute(statement)
