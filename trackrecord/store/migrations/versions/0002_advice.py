"""Runs, exposures, and decisions about lessons, holdouts and entries.

The runs of the outcomes on record are noted by a rebuild.
"""

import sqlalchemy as sa
from alembic import op

revision = "r0002"
down_revision = "r0001"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables, and ask for a rebuild of every project that has outcomes."""
    op.create_table(
        "runs",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "ended_at", "outcome", name="pk_runs"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "lesson_decisions",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("lesson_id", sa.String(32), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_lesson_decisions_project_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_lesson_decisions"),
    )
    op.create_index("ix_lesson_decisions_project_id", "lesson_decisions", ["project_id"])
    op.create_table(
        "exposures",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("exposure_id", sa.String(64), nullable=False),
        sa.Column("task_id", sa.String(256), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("is_withheld", sa.Boolean(), nullable=False),
        sa.Column("holdout", sa.Double(), nullable=False),
        sa.Column("propensity", sa.Double(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("entries", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_exposures_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_exposures"),
        sa.UniqueConstraint("project_id", "exposure_id", name="uq_exposures_project_id"),
    )
    op.create_index("ix_exposures_at", "exposures", ["project_id", "at"])
    op.create_table(
        "effect_decisions",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("entry", sa.String(256), nullable=False),
        sa.Column("share", sa.Double(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_effect_decisions_project_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_effect_decisions"),
    )
    op.create_index("ix_effect_decisions_project_id", "effect_decisions", ["project_id"])
    op.execute("UPDATE recorded_rules SET mixed = TRUE")
