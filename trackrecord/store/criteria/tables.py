"""The tables of criteria: their sums, and the feedback of outcomes that name criteria."""

from sqlalchemy import BigInteger, Column, Double, ForeignKey, String, UniqueConstraint, text

from trackrecord.learning.criteria.weights import MAX_NAME

from ..database.metadata import Id, columns, keyed_table, table

criteria = table(
    "criteria",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("name", String(MAX_NAME), nullable=False),
    *columns("helpful neutral harmful", BigInteger, nullable=False),
    # Forward-decayed sums of raw values, relative to the landmark of decay_bases.
    *columns("helpful_sum harmful_sum", Double, nullable=False),
    Column("last_validated", Double),
    UniqueConstraint("project_id", "name"),
)

# The feedback of outcomes that name criteria, that to the default criteria included. All other
# outcomes, most of them, give theirs to the default criteria alone, and `outcomes` says it already.
criterion_feedback = keyed_table(
    "criterion_feedback",
    Column("criterion_id", Id, primary_key=True, autoincrement=False),
    Column("received_at", Double, primary_key=True),
    Column("outcome", Id, primary_key=True, autoincrement=False),
    Column("ended_at", Double, nullable=False),
    Column("verdict", String(8), nullable=False),
    Column("value", Double, nullable=False),
    # When another record of the outcome took its place.
    Column("replaced_at", Double),
    # More than one where removed outcomes stand in one row: the value is that of all, when the last
    # of them ended.
    Column("times", BigInteger, nullable=False, server_default=text("1")),
)
