"""Tables of the ledger: what is counted, what each report added to it, and the totals."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    LargeBinary,
    String,
    UniqueConstraint,
    false,
)

from ..database.metadata import CodePointText, Id, columns, keyed_table, table

# What is counted: a pattern, a criterion, a day; and the speakers, whose totals are apart.
items = table(
    "items",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    # See subjects.py.
    Column("subject", BigInteger, nullable=False),
    # The slug of a pattern, the name of a criterion or a speaker, the number of a day.
    Column("name", String(300), nullable=False),
    # How an outcome names it, the smallest spelling; empty where none has.
    Column("kind", String(16), nullable=False),
    Column("label", CodePointText, nullable=False),
    # When the last entry ended that counts.
    Column("last", Double),
    # Of patterns: what was last written into pattern_transitions, and the state that a decision by
    # hand holds it in, until reset; the truth is derived from the totals.
    Column("reported_maturity", String(16)),
    Column("reported_inverted", Boolean, nullable=False, server_default=false()),
    Column("decided_maturity", String(16)),
    UniqueConstraint("project_id", "subject", "name"),
)

# What a report added that counts now; those of a speaker and a day are one once they are removed.
# The tables with a row per outcome declare no foreign keys: PostgreSQL would check each row by a
# query of its own, and what they refer to is written by the same transaction.
receipts = keyed_table(
    "receipts",
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("ended_at", Double, primary_key=True),
    # See receipts.py: an outcome, feedback, or removed outcomes.
    Column("kind", BigInteger, primary_key=True, autoincrement=False),
    # The row of the outcome or the feedback; the speaker of removed outcomes.
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("rows", LargeBinary, nullable=False),
)

# The sums of the receipts' rows, each row once. What decays is relative to the landmark of
# decay_bases.
totals = keyed_table(
    "totals",
    *columns("item speaker", Id, primary_key=True, autoincrement=False),
    Column("cell", BigInteger, primary_key=True, autoincrement=False),
    Column("n", BigInteger, nullable=False),
    Column("mass", Double, nullable=False),
)
