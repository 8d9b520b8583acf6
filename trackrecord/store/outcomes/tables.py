"""Tables of reported outcomes, and of the bases of their numbers."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from ..database.metadata import Id, metadata

projects = Table(
    "projects",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", String(128), nullable=False, unique=True),
    # Counts every change that rankings depend on; the cache remembers which one it shows.
    Column("revision", BigInteger, nullable=False, default=0),
    Column("outcomes", BigInteger, nullable=False, default=0),
    Column("successes", BigInteger, nullable=False, default=0),
    # Outcomes of which nobody knows whether the task reached its goal.
    Column("without_verdict", BigInteger, nullable=False, server_default=text("0")),
    Column("last_learnt_at", Double),
    # Outcomes whose last record was received before the one are removed, and of those received
    # before the other the texts; NULL until retention first does so.
    Column("outcomes_until", Double),
    Column("bodies_until", Double),
)

outcomes = Table(
    "outcomes",
    metadata,
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("outcome_id", String(128), nullable=False),
    Column("task_id", String(256), nullable=False),
    Column("received_at", Double, nullable=False),
    Column("ended_at", Double, nullable=False),
    # Without success there is no score and no verdict.
    Column("success", Boolean),
    Column("raw_score", Double),
    Column("verdict", String(8)),
    # As it came, byte for byte: rebuild, export and consolidation read it again.
    Column("body", LargeBinary, nullable=False),
    # Whether its feedback stands in criterion_feedback; else each default criterion got its own
    # verdict, and no row says so.
    Column("names_criteria", Boolean, nullable=False, server_default=false()),
    # When another record of the same outcome took its place; 0 while none has.
    Column("replaced_at", Double, nullable=False, server_default=text("0")),
    UniqueConstraint("project_id", "outcome_id", "replaced_at"),
    # All that a question about the past of a project needs, or about one of its tasks: a million
    # outcomes are counted, or looked through, without their bodies being read. New outcomes go to
    # its end; an index by task would be written all over, and cost each outcome as much again.
    Index(
        "ix_outcomes_received",
        "project_id", "received_at", "success", "names_criteria", "verdict", "raw_score",
        "ended_at", "task_id", "replaced_at",
    ),
)  # fmt: skip

# What the record of an outcome is joined from, where that is more than one entry.
outcome_entries = Table(
    "outcome_entries",
    metadata,
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("outcome_id", String(128), primary_key=True),
    # Of the body.
    Column("digest", LargeBinary(16), primary_key=True),
    Column("received_at", Double, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

# Counts of the outcomes that stand, by the day in UTC on which their tasks ended.
outcome_days = Table(
    "outcome_days",
    metadata,
    Column("project_id", Id, primary_key=True, autoincrement=False),
    # Days since 1970.
    Column("day", BigInteger, primary_key=True, autoincrement=False),
    Column("outcomes", BigInteger, nullable=False),
    Column("successes", BigInteger, nullable=False),
    Column("without_verdict", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# Counts of outcomes that were removed: by the day in UTC from whose end on they counted, and the
# day on which their tasks ended. What a replaced record no longer counts for is negative.
removed_days = Table(
    "removed_days",
    metadata,
    Column("project_id", Id, primary_key=True, autoincrement=False),
    # Days since 1970, both.
    Column("day", BigInteger, primary_key=True, autoincrement=False),
    Column("ended_day", BigInteger, primary_key=True, autoincrement=False),
    Column("outcomes", BigInteger, nullable=False),
    Column("successes", BigInteger, nullable=False),
    Column("without_verdict", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# The ids of removed outcomes that do not say when they ended: by its time a late delivery of one of
# them cannot be told from a new outcome.
removed_outcomes = Table(
    "removed_outcomes",
    metadata,
    Column("project_id", Id, primary_key=True, autoincrement=False),
    # Of the outcome_id, in eight bytes: each batch of a project that has any is looked up.
    Column("digest", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

# Which outcomes a commit came from.
outcome_commits = Table(
    "outcome_commits",
    metadata,
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("commit_id", String(64), primary_key=True),
    Column("outcome_id", String(128), primary_key=True),
    sqlite_with_rowid=False,
)

# Feedback on one pattern, criterion or memory alone.
feedback = Table(
    "feedback",
    metadata,
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("feedback_id", String(128), nullable=False),
    Column("received_at", Double, nullable=False),
    Column("given_at", Double, nullable=False),
    # "pattern", "criterion" or "memory"
    Column("subject", String(16), nullable=False),
    # The slug of a pattern, the name of a criterion, the id of a memory.
    Column("name", String(160), nullable=False),
    Column("verdict", String(8), nullable=False),
    Column("value", Double, nullable=False),
    # Whether the project does not know the pattern or the memory yet: it counts when it does.
    Column("is_waiting", Boolean, nullable=False),
    Column("task_id", String(256)),
    Column("source", String(256)),
    UniqueConstraint("project_id", "feedback_id"),
    Index("ix_feedback_name", "project_id", "subject", "name", "received_at"),
)

# What the sums of a project are relative to.
decay_bases = Table(
    "decay_bases",
    metadata,
    Column("project_id", ForeignKey("projects.id"), primary_key=True, autoincrement=False),
    Column("half_life_days", Double, nullable=False),
    Column("landmark", Double, nullable=False),
    # Of the sums of criteria, where it is not that of patterns.
    Column("criteria_half_life_days", Double),
)

# Episodes that consolidation has not read yet; it deletes what it has folded in.
waiting_episodes = Table(
    "waiting_episodes",
    metadata,
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("outcome", Id, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

# Episodes that consolidation has read and that were replaced since: it takes back what they added.
waiting_retractions = Table(
    "waiting_retractions",
    metadata,
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("outcome", Id, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

recorded_rules = Table(
    "recorded_rules",
    metadata,
    Column("project_id", ForeignKey("projects.id"), primary_key=True, autoincrement=False),
    # A JSON object of the numbers; "{}" when they are not known.
    Column("rules", Text, nullable=False),
    # Whether some of what is recorded was computed by others.
    Column("mixed", Boolean, nullable=False),
)

# Exports that a project was made from: each is imported once.
project_imports = Table(
    "project_imports",
    metadata,
    Column("project_id", ForeignKey("projects.id"), primary_key=True, autoincrement=False),
    Column("export_id", String(32), primary_key=True),
    Column("imported_at", Double, nullable=False),
)
