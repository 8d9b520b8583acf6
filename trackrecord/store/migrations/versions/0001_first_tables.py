"""The tables of the first version."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "episodes",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("signature_id", ID, nullable=True),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("read_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "outcome", name=op.f("pk_episodes")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_episodes_signature", "episodes", ["signature_id", "success", "outcome"], unique=False
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=160), nullable=False),
        sa.Column("holder", sa.String(length=64), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "observations",
        sa.Column("pattern_id", ID, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("verdict", sa.String(length=8), nullable=False),
        sa.PrimaryKeyConstraint(
            "pattern_id", "received_at", "outcome", name=op.f("pk_observations")
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "projects",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("outcomes", sa.BigInteger(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("last_learnt_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("name", name=op.f("uq_projects_name")),
    )
    op.create_table(
        "waiting_episodes",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "outcome", name=op.f("pk_waiting_episodes")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "competence_history",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("competence_id", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_competence_history_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competence_history")),
    )
    op.create_index(
        "ix_competence_history_at", "competence_history", ["project_id", "at"], unique=False
    )
    op.create_index(
        "ix_competence_history_of",
        "competence_history",
        ["competence_id", "at", "id"],
        unique=False,
    )
    op.create_table(
        "consolidation_runs",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.Column("duration_ms", sa.Double(), nullable=True),
        sa.Column("episodes_read", sa.BigInteger(), nullable=False),
        sa.Column("signatures_touched", sa.BigInteger(), nullable=False),
        sa.Column("records_created", sa.BigInteger(), nullable=False),
        sa.Column("records_reinforced", sa.BigInteger(), nullable=False),
        sa.Column("records_updated", sa.BigInteger(), nullable=False),
        sa.Column("skipped", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_consolidation_runs_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consolidation_runs")),
    )
    op.create_index(
        op.f("ix_consolidation_runs_project_id"), "consolidation_runs", ["project_id"], unique=False
    )
    op.create_table(
        "decay_bases",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("half_life_days", sa.Double(), nullable=False),
        sa.Column("landmark", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_decay_bases_project_id")
        ),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_decay_bases")),
    )
    op.create_table(
        "outcomes",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("outcome_id", sa.String(length=128), nullable=False),
        sa.Column("task_id", sa.String(length=256), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("raw_score", sa.Double(), nullable=False),
        sa.Column("verdict", sa.String(length=8), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_outcomes_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outcomes")),
        sa.UniqueConstraint("project_id", "outcome_id", name=op.f("uq_outcomes_project_id")),
    )
    op.create_index(
        "ix_outcomes_received", "outcomes", ["project_id", "received_at", "success"], unique=False
    )
    op.create_table(
        "patterns",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("slug", sa.String(length=160), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column(
            "content", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False
        ),
        sa.Column("helpful", sa.BigInteger(), nullable=False),
        sa.Column("neutral", sa.BigInteger(), nullable=False),
        sa.Column("harmful", sa.BigInteger(), nullable=False),
        sa.Column("helpful_sum", sa.Double(), nullable=False),
        sa.Column("harmful_sum", sa.Double(), nullable=False),
        sa.Column("last_validated", sa.Double(), nullable=True),
        sa.Column("reported_maturity", sa.String(length=16), nullable=True),
        sa.Column("reported_inverted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_patterns_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_patterns")),
        sa.UniqueConstraint("project_id", "slug", name=op.f("uq_patterns_project_id")),
    )
    op.create_table(
        "signatures",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("digest", sa.LargeBinary(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("latency_sum_ms", sa.BigInteger(), nullable=False),
        sa.Column("latency_count", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.Double(), nullable=True),
        sa.Column("changed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_signatures_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signatures")),
        sa.UniqueConstraint("project_id", "digest", name=op.f("uq_signatures_project_id")),
    )
    op.create_index(
        "ix_signatures_changed",
        "signatures",
        ["project_id", "id"],
        unique=False,
        sqlite_where=sa.text("changed"),
        postgresql_where=sa.text("changed"),
    )
    op.create_table(
        "competences",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("signature_id", ID, nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_competences_project_id")
        ),
        sa.ForeignKeyConstraint(
            ["signature_id"], ["signatures.id"], name=op.f("fk_competences_signature_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competences")),
    )
    op.create_index(op.f("ix_competences_project_id"), "competences", ["project_id"], unique=False)
    op.create_index(
        op.f("ix_competences_signature_id"), "competences", ["signature_id"], unique=False
    )
    op.create_table(
        "pattern_transitions",
        sa.Column("id", ID, nullable=False),
        sa.Column("pattern_id", ID, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("aspect", sa.String(length=16), nullable=False),
        sa.Column("before", sa.String(length=16), nullable=True),
        sa.Column("after", sa.String(length=16), nullable=False),
        sa.Column("helpful", sa.BigInteger(), nullable=False),
        sa.Column("neutral", sa.BigInteger(), nullable=False),
        sa.Column("harmful", sa.BigInteger(), nullable=False),
        sa.Column("decayed_helpful", sa.Double(), nullable=False),
        sa.Column("decayed_harmful", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pattern_id"], ["patterns.id"], name=op.f("fk_pattern_transitions_pattern_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pattern_transitions")),
    )
    op.create_index(
        op.f("ix_pattern_transitions_pattern_id"),
        "pattern_transitions",
        ["pattern_id"],
        unique=False,
    )
    op.create_table(
        "signature_facts",
        sa.Column("signature_id", ID, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("uses", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["signature_id"], ["signatures.id"], name=op.f("fk_signature_facts_signature_id")
        ),
        sa.PrimaryKeyConstraint("signature_id", "kind", "digest", name=op.f("pk_signature_facts")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_signature_facts_uses",
        "signature_facts",
        ["signature_id", "kind", "uses", "digest"],
        unique=False,
    )
