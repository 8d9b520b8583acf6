"""Tables and columns that nothing reads any more."""

import sqlalchemy as sa
from alembic import op

revision = "what_went"
down_revision = "listed_runs"
branch_labels = None
depends_on = None

TABLES: tuple[str, ...] = ("move_steps",)
# By table.
COLUMNS: dict[str, tuple[str, ...]] = {
    "effect_decisions": ("entry",),
}


def upgrade() -> None:
    """Apply; a store without one of them, as of a state between two releases, is left as it is."""
    there = sa.inspect(op.get_bind())
    for table in TABLES:
        if there.has_table(table):
            op.drop_table(table)
    for table, columns in COLUMNS.items():
        known = {column["name"] for column in there.get_columns(table)}
        with op.batch_alter_table(table) as altered:
            for column in columns:
                if column in known:
                    altered.drop_column(column)
