"""The tables of advice: runs and calls, exposures, decisions about lessons, holdouts."""

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
)

from ..database.metadata import Id, columns, decision_columns, keyed_table, run_key, table

# One row for each outcome, without its body. In the order of its key: the newest runs of a project
# stand side by side.
runs = keyed_table(
    "runs",
    *run_key(),
    Column("received_at", Double, nullable=False),
    # NULL where nobody knows it.
    Column("success", Boolean),
    # See wire/run_digest.py.
    Column("digest", LargeBinary, nullable=False),
    # When another record of the outcome took its place.
    Column("replaced_at", Double),
)

# What lists of runs are filtered by, in the order of the runs. A filter that admits none of them
# goes through all, so that a row has some hundred bytes.
listed_runs = keyed_table(
    "listed_runs",
    *run_key(),
    Column("received_at", Double, nullable=False),
    # See wire/run_marks.py.
    Column("marks", Text, nullable=False),
    # When another record of the outcome took its place.
    Column("replaced_at", Double),
    # The task's text without its case, "" for none; last, because it may be long.
    Column("task_text", Text, nullable=False),
)

# The calls of an outcome that can be tried again, in the order of the runs; no row for an outcome
# without any.
tried_calls = keyed_table(
    "tried_calls",
    *run_key(),
    Column("received_at", Double, nullable=False),
    # See wire/tried_calls.py.
    Column("digest", LargeBinary, nullable=False),
    # When another record of the outcome took its place.
    Column("replaced_at", Double),
)

# What the worker counted last from the runs of a large project, so that readers need not. It
# can always be counted again.
run_counts = keyed_table(
    "run_counts",
    Column("project_id", Id, primary_key=True, autoincrement=False),
    # "lessons", "estimates" or "patterns"
    Column("part", String(16), primary_key=True),
    Column("counted_at", Double, nullable=False),
    # When the last record of the project that was there was received.
    Column("last_received", Double, nullable=False),
    # A fingerprint of the rules it was counted by.
    Column("rules", String(32), nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# Lessons and facts about commands are counted from the runs; only what people decided about them is
# on record.
lesson_decisions = table(
    "lesson_decisions",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False, index=True),
    Column("lesson_id", String(32), nullable=False),
    # "dismiss" or "restore"
    *decision_columns(),
)

# What was handed to which task, or withheld from it.
exposures = table(
    "exposures",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    # Given by the producer: an exposure that is delivered twice counts once.
    Column("exposure_id", String(64), nullable=False),
    Column("task_id", String(256), nullable=False),
    *columns("at received_at", Double, nullable=False),
    # Whether the task belongs to the holdout: then the entries are those it would have got.
    Column("is_withheld", Boolean, nullable=False),
    # The share of tasks that was held out at that time.
    Column("holdout", Double, nullable=False),
    # How probable it was that the task was assigned so; 1 where nothing was left to chance.
    Column("propensity", Double, nullable=False),
    # The revision of the rankings.
    Column("revision", BigInteger, nullable=False),
    # A JSON array of the entries' ids.
    Column("entries", Text, nullable=False),
    UniqueConstraint("project_id", "exposure_id"),
    Index("ix_exposures_at", "project_id", "at"),
    Index("ix_exposures_task", "project_id", "task_id", "at"),
)

# What a failing call was told, or would have been told, and how that was decided.
hints = table(
    "hints",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    # Given by the producer: a hint that is delivered twice counts once.
    Column("hint_id", String(64), nullable=False),
    Column("session", String(256), nullable=False),
    # Which of the session's agents; "" for the main one.
    *columns("agent source", String(256), nullable=False),
    Column("entry", String(512), nullable=False),
    Column("kind", String(256), nullable=False),
    *columns("at received_at", Double, nullable=False),
    Column("is_given", Boolean, nullable=False),
    # With which it was given; 0 or 1 where nothing was left to chance.
    Column("probability", Double, nullable=False),
    # The name by which the failing call is known.
    Column("key", String(512), nullable=False),
    # The kind of check that it is about; "" for none.
    *columns("check_kind tool", String(256), nullable=False),
    Column("text", String(512), nullable=False),
    UniqueConstraint("project_id", "hint_id"),
    Index("ix_hints_at", "project_id", "at"),
)

# The holdout of a project; the last row counts.
effect_decisions = table(
    "effect_decisions",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False, index=True),
    Column("at", Double, nullable=False),
    # "holdout"; earlier versions wrote of entries, too, which nothing reads.
    Column("action", String(16), nullable=False),
    Column("share", Double),
    *columns("actor reason", Text, nullable=False),
)
