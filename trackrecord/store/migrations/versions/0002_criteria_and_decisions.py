"""Criteria, decisions by hand, and the rules that recorded numbers were computed by."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "criteria",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("helpful", sa.BigInteger(), nullable=False),
        sa.Column("neutral", sa.BigInteger(), nullable=False),
        sa.Column("harmful", sa.BigInteger(), nullable=False),
        sa.Column("helpful_sum", sa.Double(), nullable=False),
        sa.Column("harmful_sum", sa.Double(), nullable=False),
        sa.Column("last_validated", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_criteria_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_criteria")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_criteria_project_id")),
    )
    op.create_table(
        "criterion_feedback",
        sa.Column("criterion_id", ID, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("verdict", sa.String(length=8), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint(
            "criterion_id", "received_at", "outcome", name=op.f("pk_criterion_feedback")
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "pattern_decisions",
        sa.Column("id", ID, nullable=False),
        sa.Column("pattern_id", ID, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pattern_id"], ["patterns.id"], name=op.f("fk_pattern_decisions_pattern_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pattern_decisions")),
    )
    op.create_index(
        op.f("ix_pattern_decisions_pattern_id"), "pattern_decisions", ["pattern_id"], unique=False
    )
    op.add_column("pattern_transitions", sa.Column("decision_id", ID, nullable=True))
    op.add_column("patterns", sa.Column("decided_maturity", sa.String(length=16), nullable=True))
    op.create_table(
        "recorded_rules",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("mixed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_recorded_rules_project_id")
        ),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_recorded_rules")),
    )
    # What was learnt before knows no criteria: a rebuild is due.
    op.execute("INSERT INTO recorded_rules SELECT id, '{}', true FROM projects WHERE outcomes > 0")
    op.add_column(
        "outcomes",
        sa.Column("names_criteria", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    op.drop_index("ix_outcomes_received", table_name="outcomes")
    op.create_index(
        "ix_outcomes_received",
        "outcomes",
        [
            "project_id", "received_at", "success", "names_criteria", "verdict", "raw_score",
            "ended_at", "task_id",
        ],
        unique=False,
    )  # fmt: skip
