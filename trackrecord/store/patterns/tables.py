"""Tables of patterns: their sums, their observations, and decisions by hand."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
    false,
    text,
)

from ..database.metadata import CodePointText, Id, columns, decision_columns, keyed_table, table

patterns = table(
    "patterns",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("slug", String(160), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("content", CodePointText, nullable=False),
    *columns("helpful neutral harmful", BigInteger, nullable=False),
    # Outcomes whose task reached its goal, whatever they scored.
    Column("succeeded", BigInteger, nullable=False, server_default=text("0")),
    # Forward-decayed sums, relative to the landmark of decay_bases.
    *columns("helpful_sum harmful_sum", Double, nullable=False),
    Column("last_validated", Double),
    # How many of the verdicts are feedback, of no outcome, and how many of these are helpful.
    *columns("feedback helpful_feedback", BigInteger, nullable=False, server_default=text("0")),
    # What was last written into pattern_transitions; the truth is derived from the sums.
    Column("reported_maturity", String(16)),
    Column("reported_inverted", Boolean, nullable=False, default=False),
    # The state that a decision by hand holds it in, until reset; pattern_decisions says more.
    Column("decided_maturity", String(16)),
    UniqueConstraint("project_id", "slug"),
)

# The same sums by speaker, without feedback apart: where several speak, each has its share.
pattern_speakers = keyed_table(
    "pattern_speakers",
    Column("pattern_id", Id, primary_key=True, autoincrement=False),
    Column("speaker", String(300), primary_key=True),
    Column("project_id", Id, nullable=False),
    *columns("helpful neutral harmful succeeded feedback", BigInteger, nullable=False),
    *columns("helpful_sum harmful_sum", Double, nullable=False),
    # The parts of these that nothing but an agent's own word stands for.
    *columns("helpful_claimed_sum harmful_claimed_sum", Double, nullable=False),
    # Its two ends say whether more than one speaks in a project.
    Index("ix_pattern_speakers_project", "project_id", "speaker"),
)

# One row for each pattern that an outcome touched: what the past is answered from. The tables with
# a row per outcome declare no foreign keys: PostgreSQL would check each row by a query of its own,
# and what they refer to is written by the same transaction.
observations = keyed_table(
    "observations",
    Column("pattern_id", Id, primary_key=True, autoincrement=False),
    Column("received_at", Double, primary_key=True),
    Column("outcome", Id, primary_key=True, autoincrement=False),
    Column("ended_at", Double, nullable=False),
    Column("verdict", String(8), nullable=False),
    Column("success", Boolean, nullable=False, server_default=false()),
    # When another record of the outcome took its place.
    Column("replaced_at", Double),
    # Whose word the verdict is, and whether it is no more than that.
    Column("speaker", String(300), nullable=False, server_default=""),
    Column("is_claim", Boolean, nullable=False, server_default=false()),
    # Of a removed outcome several stand in one row, see removed.py: how many, and what they weigh
    # together when the last of them ended.
    Column("times", BigInteger, nullable=False, server_default=text("1")),
    Column("weight", Double, nullable=False, server_default=text("1")),
)

pattern_transitions = table(
    "pattern_transitions",
    Column("id", Id, primary_key=True),
    Column("pattern_id", ForeignKey("patterns.id"), nullable=False, index=True),
    Column("at", Double, nullable=False),
    # "maturity" or "inversion"
    Column("aspect", String(16), nullable=False),
    Column("before", String(16)),
    Column("after", String(16), nullable=False),
    # As of then; without, where some of what they counted is forgotten.
    *columns("helpful neutral harmful", BigInteger),
    *columns("decayed_helpful decayed_harmful", Double),
    # What made it, where it was made by hand.
    Column("decision_id", Id),
)

# Tags by hand. A row stays after the tag was removed: the past had it.
pattern_tags = table(
    "pattern_tags",
    Column("id", Id, primary_key=True),
    Column("pattern_id", ForeignKey("patterns.id"), nullable=False, index=True),
    Column("tag", String(64), nullable=False),
    Column("added_at", Double, nullable=False),
    Column("removed_at", Double),
)

pattern_decisions = table(
    "pattern_decisions",
    Column("id", Id, primary_key=True),
    Column("pattern_id", ForeignKey("patterns.id"), nullable=False, index=True),
    # "promote", "deprecate" or "reset"
    *decision_columns(),
)
