"""Moves of a store to another database, and imports of exports."""

import sqlalchemy as sa
from alembic import op

revision = "r0004_transfer"
down_revision = "r0003"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "store_moves",
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("direction", sa.String(4), nullable=False),
        sa.Column("other", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double()),
        sa.PrimaryKeyConstraint("token", name="pk_store_moves"),
    )
    op.create_table(
        "move_steps",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("last_key", sa.Text()),
        sa.Column("copied", sa.BigInteger(), nullable=False),
        sa.Column("is_done", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_move_steps"),
    )
    op.create_table(
        "project_imports",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("export_id", sa.String(32), nullable=False),
        sa.Column("imported_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_project_imports_project_id"
        ),
        sa.PrimaryKeyConstraint("project_id", "export_id", name="pk_project_imports"),
    )
