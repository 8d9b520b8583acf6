"""Outcomes without a verdict, and records that another one of the same outcome replaced."""

import sqlalchemy as sa
from alembic import op

revision = "r0003"
down_revision = "r0002"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_RECEIVED = (
    "project_id", "received_at", "success", "names_criteria", "verdict", "raw_score",
    "ended_at", "task_id",
)  # fmt: skip


def upgrade() -> None:
    """Let success be unknown, and several records of one outcome stand side by side."""
    op.add_column(
        "projects",
        sa.Column("without_verdict", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
    )
    with op.batch_alter_table("outcomes", copy_from=_outcomes()) as batch:
        batch.alter_column("success", existing_type=sa.Boolean(), nullable=True)
        batch.alter_column("raw_score", existing_type=sa.Double(), nullable=True)
        batch.alter_column("verdict", existing_type=sa.String(8), nullable=True)
        batch.add_column(
            sa.Column("replaced_at", sa.Double(), server_default=sa.text("0"), nullable=False)
        )
        batch.drop_constraint("uq_outcomes_project_id", type_="unique")
        batch.create_unique_constraint(
            "uq_outcomes_project_id", ["project_id", "outcome_id", "replaced_at"]
        )
        batch.drop_index("ix_outcomes_received")
        batch.create_index("ix_outcomes_received", [*_RECEIVED, "replaced_at"])
    with op.batch_alter_table(
        "runs", copy_from=_runs(), table_kwargs={"sqlite_with_rowid": False}
    ) as batch:
        batch.alter_column("success", existing_type=sa.Boolean(), nullable=True)
        batch.add_column(sa.Column("replaced_at", sa.Double()))
    for table in ("observations", "criterion_feedback"):
        op.add_column(table, sa.Column("replaced_at", sa.Double()))
    op.add_column("episodes", sa.Column("retracted_at", sa.Double()))
    _make_tables()


def _make_tables() -> None:
    op.create_table(
        "outcome_entries",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("outcome_id", sa.String(128), nullable=False),
        sa.Column("digest", sa.LargeBinary(16), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "outcome_id", "digest", name="pk_outcome_entries"),
    )
    op.create_table(
        "outcome_commits",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("commit_id", sa.String(64), nullable=False),
        sa.Column("outcome_id", sa.String(128), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "commit_id", "outcome_id", name="pk_outcome_commits"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "waiting_retractions",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "outcome", name="pk_waiting_retractions"),
        sqlite_with_rowid=False,
    )


def _outcomes() -> sa.Table:
    """Return the table as it was: SQLite changes a column by copying the table."""
    return sa.Table(
        "outcomes",
        sa.MetaData(),
        sa.Column("id", ID, primary_key=True),
        sa.Column(
            "project_id",
            ID,
            sa.ForeignKey("projects.id", name="fk_outcomes_project_id"),
            nullable=False,
        ),
        sa.Column("outcome_id", sa.String(128), nullable=False),
        sa.Column("task_id", sa.String(256), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("raw_score", sa.Double(), nullable=False),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("names_criteria", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.UniqueConstraint("project_id", "outcome_id", name="uq_outcomes_project_id"),
        sa.Index("ix_outcomes_received", *_RECEIVED),
    )


def _runs() -> sa.Table:
    """Return the table as it was."""
    return sa.Table(
        "runs",
        sa.MetaData(),
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "ended_at", "outcome", name="pk_runs"),
    )
