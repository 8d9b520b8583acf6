"""The tables of what was reported, and of what was learnt from it at once."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite gives rowids only to INTEGER keys; PostgreSQL wants 64 bits.
Id = BigInteger().with_variant(Integer, "sqlite")
# Compared by code point on both, so that the smallest of two texts is the same one everywhere.
CodePointText = Text().with_variant(Text(collation="C"), "postgresql")

projects = Table(
    "projects",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", String(128), nullable=False, unique=True),
    # Counts every change that rankings depend on; the cache remembers which one it shows.
    Column("revision", BigInteger, nullable=False, default=0),
    Column("outcomes", BigInteger, nullable=False, default=0),
    Column("successes", BigInteger, nullable=False, default=0),
    Column("last_learnt_at", Double),
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
    Column("success", Boolean, nullable=False),
    Column("raw_score", Double, nullable=False),
    Column("verdict", String(8), nullable=False),
    # As it came, byte for byte: rebuild, export and consolidation read it again.
    Column("body", LargeBinary, nullable=False),
    # Whether its feedback stands in criterion_feedback; else each default criterion got its own
    # verdict, and no row says so.
    Column("names_criteria", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("project_id", "outcome_id"),
    # All that a question about the past of a project needs, or about one of its tasks: a million
    # outcomes are counted, or looked through, without their bodies being read. New outcomes go to
    # its end; an index by task would be written all over, and cost each outcome as much again.
    Index(
        "ix_outcomes_received",
        "project_id", "received_at", "success", "names_criteria", "verdict", "raw_score",
        "ended_at", "task_id",
    ),
)  # fmt: skip

patterns = Table(
    "patterns",
    metadata,
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("slug", String(160), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("content", CodePointText, nullable=False),
    Column("helpful", BigInteger, nullable=False),
    Column("neutral", BigInteger, nullable=False),
    Column("harmful", BigInteger, nullable=False),
    # Forward-decayed sums, relative to the landmark of decay_bases.
    Column("helpful_sum", Double, nullable=False),
    Column("harmful_sum", Double, nullable=False),
    Column("last_validated", Double),
    # What was last written into pattern_transitions; the truth is derived from the sums.
    Column("reported_maturity", String(16)),
    Column("reported_inverted", Boolean, nullable=False, default=False),
    # The state that a decision by hand holds it in, until reset; pattern_decisions says more.
    Column("decided_maturity", String(16)),
    UniqueConstraint("project_id", "slug"),
)

# One row for each pattern that an outcome touched: what the past is answered from. The tables with
# a row per outcome declare no foreign keys: PostgreSQL would check each row by a query of its own,
# and what they refer to is written by the same transaction.
observations = Table(
    "observations",
    metadata,
    Column("pattern_id", Id, primary_key=True, autoincrement=False),
    Column("received_at", Double, primary_key=True),
    Column("outcome", Id, primary_key=True, autoincrement=False),
    Column("ended_at", Double, nullable=False),
    Column("verdict", String(8), nullable=False),
    sqlite_with_rowid=False,
)

pattern_transitions = Table(
    "pattern_transitions",
    metadata,
    Column("id", Id, primary_key=True),
    Column("pattern_id", ForeignKey("patterns.id"), nullable=False, index=True),
    Column("at", Double, nullable=False),
    # "maturity" or "inversion"
    Column("aspect", String(16), nullable=False),
    Column("before", String(16)),
    Column("after", String(16), nullable=False),
    Column("helpful", BigInteger, nullable=False),
    Column("neutral", BigInteger, nullable=False),
    Column("harmful", BigInteger, nullable=False),
    Column("decayed_helpful", Double, nullable=False),
    Column("decayed_harmful", Double, nullable=False),
    # What made it, where it was made by hand.
    Column("decision_id", Id),
)

# What the sums of a project are relative to.
decay_bases = Table(
    "decay_bases",
    metadata,
    Column("project_id", ForeignKey("projects.id"), primary_key=True, autoincrement=False),
    Column("half_life_days", Double, nullable=False),
    Column("landmark", Double, nullable=False),
)

# Episodes that consolidation has not read yet; it deletes what it has folded in.
waiting_episodes = Table(
    "waiting_episodes",
    metadata,
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("outcome", Id, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)
