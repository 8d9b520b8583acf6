"""The tables of the first release."""

import time
import uuid

import sqlalchemy as sa
from alembic import op

# Not "0001" or "r0001": versions before the first release wrote these into their databases.
revision = "first_release"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OLD = "memories_before"


def upgrade() -> None:
    """Apply; what only one database has, is made by its dialect."""
    had_memories = sa.inspect(op.get_bind()).has_table("memories")
    if had_memories:
        op.rename_table("memories", _OLD)
    _make_outcomes()
    _make_patterns()
    _make_criteria()
    _make_episodes()
    _make_competences()
    _make_memories()
    _make_advice()
    _make_administration()
    if had_memories:
        _take_over()
        op.drop_table(_OLD)


def _make_outcomes() -> None:
    op.create_table(
        "projects",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("outcomes", sa.BigInteger(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("last_learnt_at", sa.Double()),
        sa.Column("without_verdict", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("outcomes_until", sa.Double()),
        sa.Column("bodies_until", sa.Double()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "outcomes",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("outcome_id", sa.String(128), nullable=False),
        sa.Column("task_id", sa.String(256), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean()),
        sa.Column("raw_score", sa.Double()),
        sa.Column("verdict", sa.String(8)),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("names_criteria", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("replaced_at", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "outcome_id", "replaced_at"),
    )
    op.create_index(
        "ix_outcomes_received",
        "outcomes",
        [
            "project_id", "received_at", "success", "names_criteria", "verdict", "raw_score",
            "ended_at", "task_id", "replaced_at",
        ],
    )  # fmt: skip
    op.create_table(
        "decay_bases",
        sa.Column(
            "project_id", ID, sa.ForeignKey("projects.id"), autoincrement=False, nullable=False
        ),
        sa.Column("half_life_days", sa.Double(), nullable=False),
        sa.Column("landmark", sa.Double(), nullable=False),
        sa.Column("criteria_half_life_days", sa.Double()),
        sa.PrimaryKeyConstraint("project_id"),
    )
    op.create_table(
        "waiting_episodes",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "outcome"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "recorded_rules",
        sa.Column(
            "project_id", ID, sa.ForeignKey("projects.id"), autoincrement=False, nullable=False
        ),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("mixed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("project_id"),
    )
    op.create_table(
        "outcome_entries",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("outcome_id", sa.String(128), nullable=False),
        sa.Column("digest", sa.LargeBinary(16), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "outcome_id", "digest"),
    )
    op.create_table(
        "outcome_commits",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("commit_id", sa.String(64), nullable=False),
        sa.Column("outcome_id", sa.String(128), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "commit_id", "outcome_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "waiting_retractions",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "outcome"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "outcome_days",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("outcomes", sa.BigInteger(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("without_verdict", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "day"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "removed_days",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ended_day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("outcomes", sa.BigInteger(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("without_verdict", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "day", "ended_day"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "removed_outcomes",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("digest", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "digest"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "feedback",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("feedback_id", sa.String(128), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("given_at", sa.Double(), nullable=False),
        sa.Column("subject", sa.String(16), nullable=False),
        sa.Column("name", sa.String(160), nullable=False),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("is_waiting", sa.Boolean(), nullable=False),
        sa.Column("task_id", sa.String(256)),
        sa.Column("source", sa.String(256)),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "feedback_id"),
    )
    op.create_index(
        "ix_feedback_name", "feedback", ["project_id", "subject", "name", "received_at"]
    )
    op.create_index(
        "ix_feedback_waiting",
        "feedback",
        ["project_id", "subject", "name"],
        sqlite_where=sa.text("is_waiting = 1"),
        postgresql_where=sa.text("is_waiting"),
    )


def _make_patterns() -> None:
    op.create_table(
        "patterns",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("slug", sa.String(160), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column(
            "content", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False
        ),
        sa.Column("helpful", sa.BigInteger(), nullable=False),
        sa.Column("neutral", sa.BigInteger(), nullable=False),
        sa.Column("harmful", sa.BigInteger(), nullable=False),
        sa.Column("succeeded", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.Column("helpful_sum", sa.Double(), nullable=False),
        sa.Column("harmful_sum", sa.Double(), nullable=False),
        sa.Column("last_validated", sa.Double()),
        sa.Column("reported_maturity", sa.String(16)),
        sa.Column("reported_inverted", sa.Boolean(), nullable=False),
        sa.Column("decided_maturity", sa.String(16)),
        sa.Column("feedback", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("helpful_feedback", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "slug"),
    )
    op.create_table(
        "observations",
        sa.Column("pattern_id", ID, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("replaced_at", sa.Double()),
        sa.Column("speaker", sa.String(300), nullable=False, server_default=""),
        sa.Column("is_claim", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("times", sa.BigInteger(), nullable=False, server_default=sa.text("1")),
        sa.Column("weight", sa.Double(), nullable=False, server_default=sa.text("1")),
        sa.PrimaryKeyConstraint("pattern_id", "received_at", "outcome"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "pattern_transitions",
        sa.Column("id", ID, nullable=False),
        sa.Column("pattern_id", ID, sa.ForeignKey("patterns.id"), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("aspect", sa.String(16), nullable=False),
        sa.Column("before", sa.String(16)),
        sa.Column("after", sa.String(16), nullable=False),
        sa.Column("helpful", sa.BigInteger(), nullable=False),
        sa.Column("neutral", sa.BigInteger(), nullable=False),
        sa.Column("harmful", sa.BigInteger(), nullable=False),
        sa.Column("decayed_helpful", sa.Double(), nullable=False),
        sa.Column("decayed_harmful", sa.Double(), nullable=False),
        sa.Column("decision_id", ID),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        op.f("ix_pattern_transitions_pattern_id"),
        "pattern_transitions",
        ["pattern_id"],
    )
    op.create_table(
        "pattern_decisions",
        sa.Column("id", ID, nullable=False),
        sa.Column("pattern_id", ID, sa.ForeignKey("patterns.id"), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_pattern_decisions_pattern_id"), "pattern_decisions", ["pattern_id"])
    op.create_table(
        "pattern_tags",
        sa.Column("id", ID, nullable=False),
        sa.Column("pattern_id", ID, sa.ForeignKey("patterns.id"), nullable=False),
        sa.Column("tag", sa.String(64), nullable=False),
        sa.Column("added_at", sa.Double(), nullable=False),
        sa.Column("removed_at", sa.Double()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_pattern_tags_pattern_id"), "pattern_tags", ["pattern_id"])
    op.create_table(
        "pattern_speakers",
        sa.Column("pattern_id", ID, autoincrement=False, nullable=False),
        sa.Column("speaker", sa.String(300), nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("helpful", sa.BigInteger(), nullable=False),
        sa.Column("neutral", sa.BigInteger(), nullable=False),
        sa.Column("harmful", sa.BigInteger(), nullable=False),
        sa.Column("succeeded", sa.BigInteger(), nullable=False),
        sa.Column("feedback", sa.BigInteger(), nullable=False),
        sa.Column("helpful_sum", sa.Double(), nullable=False),
        sa.Column("harmful_sum", sa.Double(), nullable=False),
        sa.Column("helpful_claimed_sum", sa.Double(), nullable=False),
        sa.Column("harmful_claimed_sum", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("pattern_id", "speaker"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_pattern_speakers_project", "pattern_speakers", ["project_id", "speaker"])


def _make_criteria() -> None:
    op.create_table(
        "criteria",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("helpful", sa.BigInteger(), nullable=False),
        sa.Column("neutral", sa.BigInteger(), nullable=False),
        sa.Column("harmful", sa.BigInteger(), nullable=False),
        sa.Column("helpful_sum", sa.Double(), nullable=False),
        sa.Column("harmful_sum", sa.Double(), nullable=False),
        sa.Column("last_validated", sa.Double()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "name"),
    )
    op.create_table(
        "criterion_feedback",
        sa.Column("criterion_id", ID, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("replaced_at", sa.Double()),
        sa.Column("times", sa.BigInteger(), nullable=False, server_default=sa.text("1")),
        sa.PrimaryKeyConstraint("criterion_id", "received_at", "outcome"),
        sqlite_with_rowid=False,
    )


def _make_episodes() -> None:
    op.create_table(
        "signatures",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("digest", sa.LargeBinary(16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("latency_sum_ms", sa.BigInteger(), nullable=False),
        sa.Column("latency_count", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.Double()),
        sa.Column("changed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "digest"),
    )
    op.create_index(
        "ix_signatures_changed",
        "signatures",
        ["project_id", "id"],
        sqlite_where=sa.text("changed"),
        postgresql_where=sa.text("changed"),
    )
    op.create_table(
        "signature_facts",
        sa.Column("signature_id", ID, sa.ForeignKey("signatures.id"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("digest", sa.LargeBinary(16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("uses", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("signature_id", "kind", "digest"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_signature_facts_uses",
        "signature_facts",
        ["signature_id", "kind", "uses", "digest"],
    )
    op.create_table(
        "removed_episodes",
        sa.Column("signature_id", ID, sa.ForeignKey("signatures.id"), nullable=False),
        sa.Column("tally", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("signature_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "episodes",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("signature_id", ID),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("read_at", sa.Double(), nullable=False),
        sa.Column("retracted_at", sa.Double()),
        sa.PrimaryKeyConstraint("project_id", "outcome"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_episodes_signature", "episodes", ["signature_id", "success", "outcome"])
    op.create_table(
        "consolidation_runs",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double()),
        sa.Column("duration_ms", sa.Double()),
        sa.Column("episodes_read", sa.BigInteger(), nullable=False),
        sa.Column("signatures_touched", sa.BigInteger(), nullable=False),
        sa.Column("records_created", sa.BigInteger(), nullable=False),
        sa.Column("records_reinforced", sa.BigInteger(), nullable=False),
        sa.Column("records_updated", sa.BigInteger(), nullable=False),
        sa.Column("skipped", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_consolidation_runs_project_id"), "consolidation_runs", ["project_id"])
    op.create_table(
        "leases",
        sa.Column("name", sa.String(160), nullable=False),
        sa.Column("holder", sa.String(64), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def _make_competences() -> None:
    op.create_table(
        "competences",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("signature_id", ID, sa.ForeignKey("signatures.id")),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_competences_project_id"), "competences", ["project_id"])
    op.create_index(op.f("ix_competences_signature_id"), "competences", ["signature_id"])
    op.create_table(
        "competence_numbers",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("competence_id", sa.String(64), nullable=False),
        sa.Column("is_selectable", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("last_reinforced_at", sa.Double()),
        sa.Column("half_life_days", sa.Double(), nullable=False),
        sa.Column("words_key", sa.BigInteger()),
        sa.Column("text_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("credited_successes", sa.BigInteger(), nullable=False),
        sa.Column("credited_failures", sa.BigInteger(), nullable=False),
        sa.Column("credited_latency_sum_ms", sa.BigInteger(), nullable=False),
        sa.Column("credited_latency_count", sa.BigInteger(), nullable=False),
        sa.Column("credited_last_used_at", sa.Double()),
        sa.PrimaryKeyConstraint("project_id", "competence_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "competence_credits",
        sa.Column("competence_id", sa.String(64), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger()),
        sa.Column("is_pending", sa.Boolean(), nullable=False),
        sa.Column("counted_at", sa.Double()),
        sa.PrimaryKeyConstraint("competence_id", "outcome"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_competence_credits_project", "competence_credits", ["project_id"])
    op.create_index(
        "ix_competence_credits_pending",
        "competence_credits",
        ["competence_id"],
        sqlite_where=sa.text("is_pending"),
        postgresql_where=sa.text("is_pending"),
    )
    op.create_table(
        "competence_words",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("word", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("phrase", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "word", "phrase"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "competence_history",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("competence_id", sa.String(64), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("snapshot", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_competence_history_at", "competence_history", ["project_id", "at"])
    op.create_index(
        "ix_competence_history_of",
        "competence_history",
        ["competence_id", "at", "id"],
    )


def _make_memories() -> None:
    op.create_table(
        "memories",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("memory_id", sa.String(128), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("last_recalled_at", sa.Double()),
        sa.Column("superseded_by", sa.String(128)),
        sa.Column("changes", sa.Integer(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.Column("standing", sa.Double(), nullable=False),
        sa.Column("size_class", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "memory_id"),
    )
    op.create_index(
        "ix_memories_position", "memories", ["project_id", "size_class", "position"], unique=True
    )
    op.create_index("ix_memories_created", "memories", ["project_id", "created_at", "id"])
    op.create_index("ix_memories_standing", "memories", ["project_id", "standing"])
    op.create_index("ix_memories_superseded", "memories", ["project_id", "superseded_by"])
    op.create_index(
        "ix_memories_unmarked",
        "memories",
        ["project_id"],
        sqlite_where=sa.text("position IS NULL"),
        postgresql_where=sa.text("position IS NULL"),
    )
    op.create_table(
        "memory_sources",
        sa.Column("memory", ID, sa.ForeignKey("memories.id", ondelete="CASCADE"), nullable=False),
        sa.Column("source", sa.String(256), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("memory", "source"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "memory_changes",
        sa.Column("memory", ID, sa.ForeignKey("memories.id", ondelete="CASCADE"), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("because_of", sa.String(128)),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("last_recalled_at", sa.Double()),
        sa.Column("superseded_by", sa.String(128)),
        sa.PrimaryKeyConstraint("memory", "number"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "memory_blocks",
        sa.Column(
            "project_id", ID, sa.ForeignKey("projects.id"), autoincrement=False, nullable=False
        ),
        sa.Column("size_class", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("planes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "size_class", "number"),
    )
    op.create_table(
        "past_tasks",
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("instruction", sa.Text(), nullable=False),
        sa.Column("is_indexed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("outcome"),
    )
    op.create_index("ix_past_tasks_project", "past_tasks", ["project_id", "outcome"])
    op.create_index(
        "ix_past_tasks_waiting",
        "past_tasks",
        ["outcome"],
        sqlite_where=sa.text("is_indexed = 0"),
        postgresql_where=sa.text("NOT is_indexed"),
    )


def _make_advice() -> None:
    op.create_table(
        "runs",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean()),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("replaced_at", sa.Double()),
        sa.PrimaryKeyConstraint("project_id", "ended_at", "outcome"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tried_calls",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("outcome", ID, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("replaced_at", sa.Double()),
        sa.PrimaryKeyConstraint("project_id", "ended_at", "outcome"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_counts",
        sa.Column("project_id", ID, autoincrement=False, nullable=False),
        sa.Column("part", sa.String(16), nullable=False),
        sa.Column("counted_at", sa.Double(), nullable=False),
        sa.Column("last_received", sa.Double(), nullable=False),
        sa.Column("rules", sa.String(32), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "part"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "lesson_decisions",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("lesson_id", sa.String(32), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_lesson_decisions_project_id", "lesson_decisions", ["project_id"])
    op.create_table(
        "exposures",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("exposure_id", sa.String(64), nullable=False),
        sa.Column("task_id", sa.String(256), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("is_withheld", sa.Boolean(), nullable=False),
        sa.Column("holdout", sa.Double(), nullable=False),
        sa.Column("propensity", sa.Double(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("entries", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "exposure_id"),
    )
    op.create_index("ix_exposures_at", "exposures", ["project_id", "at"])
    op.create_table(
        "hints",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("hint_id", sa.String(64), nullable=False),
        sa.Column("session", sa.String(256), nullable=False),
        sa.Column("agent", sa.String(256), nullable=False),
        sa.Column("source", sa.String(256), nullable=False),
        sa.Column("entry", sa.String(512), nullable=False),
        sa.Column("kind", sa.String(256), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("is_given", sa.Boolean(), nullable=False),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.Column("key", sa.String(512), nullable=False),
        sa.Column("check_kind", sa.String(256), nullable=False),
        sa.Column("tool", sa.String(256), nullable=False),
        sa.Column("text", sa.String(512), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "hint_id"),
    )
    op.create_index("ix_hints_at", "hints", ["project_id", "at"])
    op.create_table(
        "effect_decisions",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("entry", sa.String(512), nullable=False),
        sa.Column("share", sa.Double(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_effect_decisions_project_id", "effect_decisions", ["project_id"])
    op.create_index("ix_exposures_task", "exposures", ["project_id", "task_id", "at"])


def _make_administration() -> None:
    op.create_table(
        "forgotten_ids",
        sa.Column("digest", sa.LargeBinary(16), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "forgettings",
        sa.Column("id", ID, nullable=False),
        sa.Column("digest", sa.LargeBinary(16), nullable=False),
        sa.Column("what", sa.String(16), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double()),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "store_moves",
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("direction", sa.String(4), nullable=False),
        sa.Column("other", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double()),
        sa.PrimaryKeyConstraint("token"),
    )
    op.create_table(
        "move_steps",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("last_key", sa.Text()),
        sa.Column("copied", sa.BigInteger(), nullable=False),
        sa.Column("is_done", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "project_imports",
        sa.Column(
            "project_id", ID, sa.ForeignKey("projects.id"), autoincrement=False, nullable=False
        ),
        sa.Column("export_id", sa.String(32), nullable=False),
        sa.Column("imported_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "export_id"),
    )
    op.create_table(
        "access_tokens",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("project", sa.String(128)),
        sa.Column("permission", sa.String(8), nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("last_used_at", sa.Double()),
        sa.Column("revoked_at", sa.Double()),
        sa.PrimaryKeyConstraint("id"),
    )


def _take_over() -> None:
    """Take over an earlier version's memories: of type memory, without a source unless it has one.

    Their trigrams and words are marked when the project is next asked for memories.
    """
    connection = op.get_bind()
    old = sa.Table(_OLD, sa.MetaData(), autoload_with=connection)
    now = time.time()
    for number, row in enumerate(connection.execute(sa.select(old)).mappings()):
        text = str(row.get("text") or row.get("content") or "").strip()
        if not text:
            continue
        created_at = row.get("created_at")
        at = float(created_at) if isinstance(created_at, (int, float)) else now
        confidence = row.get("confidence")
        trusted = 0.5 if confidence is None else min(1.0, max(0.01, float(confidence)))
        given = str(row.get("memory_id") or row.get("id") or "")
        memory_id = given if 0 < len(given) <= 128 else uuid.uuid4().hex
        values = {
            "project": _project_of(connection, str(row.get("project") or "default")[:128]),
            "memory_id": memory_id,
            "text": text,
            "confidence": trusted,
            "at": at,
            "row": number + 1,
        }
        connection.execute(
            sa.text(
                "INSERT INTO memories (id, project_id, memory_id, text, type, confidence,"
                " created_at, changes, changed_at, standing, size_class) VALUES"
                " (:row, :project, :memory_id, :text, 'memory', :confidence, :at, 1, :at, 0, 0)"
            ),
            values,
        )
        connection.execute(
            sa.text(
                "INSERT INTO memory_changes (memory, number, at, action, type, confidence)"
                " VALUES (:row, 1, :at, 'stored', 'memory', :confidence)"
            ),
            values,
        )
    if connection.dialect.name == "postgresql":
        connection.execute(
            sa.text(
                "SELECT setval(pg_get_serial_sequence('memories', 'id'),"
                " (SELECT greatest(max(id), 1) FROM memories))"
            )
        )


def _project_of(connection: sa.Connection, name: str) -> int:
    find = sa.text("SELECT id FROM projects WHERE name = :name")
    found = connection.execute(find, {"name": name}).scalar()
    if found is None:
        connection.execute(
            sa.text(
                "INSERT INTO projects (name, revision, outcomes, successes) VALUES (:name, 0, 0, 0)"
            ),
            {"name": name},
        )
        found = connection.execute(find, {"name": name}).scalar()
    return int(found or 0)
