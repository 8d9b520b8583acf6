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
    Text,
    UniqueConstraint,
    false,
    text,
)

from ..database.metadata import Id, columns, keyed_table, table

projects = table(
    "projects",
    Column("id", Id, primary_key=True),
    Column("name", String(128), nullable=False, unique=True),
    # Counts every change that rankings depend on; the cache remembers which one it shows.
    *columns("revision outcomes successes", BigInteger, nullable=False, default=0),
    # Outcomes of which nobody knows whether the task reached its goal.
    Column("without_verdict", BigInteger, nullable=False, server_default=text("0")),
    Column("last_learnt_at", Double),
    # Outcomes whose last record was received before the one are removed, and of those received
    # before the other the texts; NULL until retention first does so.
    *columns("outcomes_until bodies_until", Double),
    # The beginning of the first day in UTC on which a removed outcome was received.
    Column("removed_from", Double),
)

outcomes = table(
    "outcomes",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("outcome_id", String(128), nullable=False),
    Column("task_id", String(256), nullable=False),
    *columns("received_at ended_at", Double, nullable=False),
    # Without success there is no score and no verdict.
    Column("success", Boolean),
    Column("raw_score", Double),
    Column("verdict", String(8)),
    # As it came, byte for byte: rebuild, export and consolidation read it again.
    Column("body", LargeBinary, nullable=False),
    # Whether it has verdicts on criteria; else each default criterion got its own.
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
outcome_entries = table(
    "outcome_entries",
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("outcome_id", String(128), primary_key=True),
    # Of the body.
    Column("digest", LargeBinary(16), primary_key=True),
    Column("received_at", Double, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

# The ids of removed outcomes that do not say when they ended: by its time a late delivery of one of
# them cannot be told from a new outcome.
removed_outcomes = keyed_table(
    "removed_outcomes",
    Column("project_id", Id, primary_key=True, autoincrement=False),
    # Of the outcome_id, in eight bytes: each batch of a project that has any is looked up.
    Column("digest", BigInteger, primary_key=True, autoincrement=False),
)

# Which outcomes a commit came from.
outcome_commits = keyed_table(
    "outcome_commits",
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("commit_id", String(64), primary_key=True),
    Column("outcome_id", String(128), primary_key=True),
)

# Feedback on one pattern, criterion or memory alone.
feedback = table(
    "feedback",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("feedback_id", String(128), nullable=False),
    *columns("received_at given_at", Double, nullable=False),
    # "pattern", "criterion" or "memory"
    Column("subject", String(16), nullable=False),
    # The slug of a pattern, the name of a criterion, the id of a memory.
    Column("name", String(160), nullable=False),
    Column("verdict", String(8), nullable=False),
    Column("value", Double, nullable=False),
    # Whether the project does not know the memory yet: it counts when it does.
    Column("is_waiting", Boolean, nullable=False),
    *columns("task_id source", String(256)),
    UniqueConstraint("project_id", "feedback_id"),
    Index("ix_feedback_name", "project_id", "subject", "name", "received_at"),
)

# What the sums of a project are relative to.
decay_bases = table(
    "decay_bases",
    Column("project_id", ForeignKey("projects.id"), primary_key=True, autoincrement=False),
    *columns("half_life_days landmark", Double, nullable=False),
    # Of the sums of criteria, where it is not that of patterns.
    Column("criteria_half_life_days", Double),
)

# Episodes that consolidation has not read yet; it deletes what it has folded in.
waiting_episodes = keyed_table(
    "waiting_episodes",
    *columns("project_id outcome", Id, primary_key=True, autoincrement=False),
)

# Episodes that consolidation has read and that were replaced since: it takes back what they added.
waiting_retractions = keyed_table(
    "waiting_retractions",
    *columns("project_id outcome", Id, primary_key=True, autoincrement=False),
)

recorded_rules = table(
    "recorded_rules",
    Column("project_id", ForeignKey("projects.id"), primary_key=True, autoincrement=False),
    # A JSON object of the numbers; "{}" when they are not known.
    Column("rules", Text, nullable=False),
    # Whether some of what is recorded was computed by others.
    Column("mixed", Boolean, nullable=False),
)

# Exports that a project was made from: each is imported once.
project_imports = table(
    "project_imports",
    Column("project_id", ForeignKey("projects.id"), primary_key=True, autoincrement=False),
    Column("export_id", String(32), primary_key=True),
    Column("imported_at", Double, nullable=False),
)
