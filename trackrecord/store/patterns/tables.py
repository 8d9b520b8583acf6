"""The tables of what people decide, and of the rules that recorded numbers were computed by."""

from sqlalchemy import Boolean, Column, Double, ForeignKey, String, Table, Text

from ..outcomes.tables import Id, metadata

pattern_decisions = Table(
    "pattern_decisions",
    metadata,
    Column("id", Id, primary_key=True),
    Column("pattern_id", ForeignKey("patterns.id"), nullable=False, index=True),
    Column("at", Double, nullable=False),
    # "promote", "deprecate" or "reset"
    Column("action", String(16), nullable=False),
    Column("actor", Text, nullable=False),
    Column("reason", Text, nullable=False),
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
