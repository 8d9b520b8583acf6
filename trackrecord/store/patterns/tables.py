"""Tables of what only patterns have: their history, and decisions and tags by hand."""

from sqlalchemy import BigInteger, Column, Double, ForeignKey, String

from ..database.metadata import Id, columns, decision_columns, table

pattern_transitions = table(
    "pattern_transitions",
    Column("id", Id, primary_key=True),
    Column("pattern_id", ForeignKey("items.id"), nullable=False, index=True),
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
    Column("pattern_id", ForeignKey("items.id"), nullable=False, index=True),
    Column("tag", String(64), nullable=False),
    Column("added_at", Double, nullable=False),
    Column("removed_at", Double),
)

pattern_decisions = table(
    "pattern_decisions",
    Column("id", Id, primary_key=True),
    Column("pattern_id", ForeignKey("items.id"), nullable=False, index=True),
    # "promote", "deprecate" or "reset"
    *decision_columns(),
)
