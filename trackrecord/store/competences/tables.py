"""The tables of consolidation: from episodes to competence records."""

from hashlib import blake2b

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

from ..database.metadata import Id, columns, keyed_table, table

_DIGEST_BYTES = 16


def digest_of(text: str) -> bytes:
    """Return the digest of a text for a unique key.

    An index row of PostgreSQL has room for 2.7 kB at most, and texts may be longer.
    """
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()


# One row for each procedure of a project: sums over its episodes, whether a record or not.
signatures = table(
    "signatures",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    # Of the name, which may be longer than an index row of PostgreSQL.
    Column("digest", LargeBinary(_DIGEST_BYTES), nullable=False),
    Column("name", Text, nullable=False),
    *columns("successes failures latency_sum_ms latency_count", BigInteger, nullable=False),
    Column("last_used_at", Double),
    # Whether its record must still follow what was added.
    Column("changed", Boolean, nullable=False),
    UniqueConstraint("project_id", "digest"),
)

# What the episodes of a signature had in common, counted: orders, arguments, triggers, …
signature_facts = keyed_table(
    "signature_facts",
    Column("signature_id", ForeignKey("signatures.id"), primary_key=True),
    Column("kind", String(16), primary_key=True),
    # Of the text, as above.
    Column("digest", LargeBinary(_DIGEST_BYTES), primary_key=True),
    Column("text", Text, nullable=False),
    *columns("successes failures", BigInteger, nullable=False),
    # Successes and failures; the index finds the most frequent without reading the rest.
    Column("uses", BigInteger, nullable=False),
    Index("ix_signature_facts_uses", "signature_id", "kind", "uses", "digest"),
)

# Sums over the episodes of a signature whose outcomes were removed: a rebuild begins with them.
removed_episodes = keyed_table(
    "removed_episodes",
    Column("signature_id", ForeignKey("signatures.id"), primary_key=True),
    # A JSON object, see removed.py.
    Column("tally", Text, nullable=False),
)

# The episodes that consolidation has read.
episodes = keyed_table(
    "episodes",
    *columns("project_id outcome", Id, primary_key=True, autoincrement=False),
    # None: no procedure, for example because of too many tools.
    Column("signature_id", Id),
    Column("success", Boolean, nullable=False),
    Column("read_at", Double, nullable=False),
    # When consolidation took back what it had added, because another record had replaced it.
    Column("retracted_at", Double),
    Index("ix_episodes_signature", "signature_id", "success", "outcome"),
)

competences = table(
    "competences",
    Column("id", String(64), primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False, index=True),
    # None: made by hand, so that no signature's sums flow into it.
    Column("signature_id", ForeignKey("signatures.id"), index=True),
    Column("status", String(16), nullable=False),
    Column("updated_at", Double, nullable=False),
    # The whole record as JSON.
    Column("record", Text, nullable=False),
)

# What selection compares, narrow enough to be read for every candidate of a project, and what
# outcomes credit: each adds to it once.
competence_numbers = keyed_table(
    "competence_numbers",
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("competence_id", String(64), primary_key=True),
    Column("is_selectable", Boolean, nullable=False),
    Column("confidence", Double, nullable=False),
    *columns("successes failures", BigInteger, nullable=False),
    Column("last_reinforced_at", Double),
    Column("half_life_days", Double, nullable=False),
    # What competence_words knows the record by; None: it has no words to compare.
    Column("words_key", BigInteger),
    # SHA-256 of the text that is embedded.
    Column("text_digest", LargeBinary(32), nullable=False),
    # What outcomes credited it with, without those among its own episodes.
    *columns("credited_successes credited_failures", BigInteger, nullable=False, default=0),
    *columns("credited_latency_sum_ms", BigInteger, nullable=False, default=0),
    *columns("credited_latency_count", BigInteger, nullable=False, default=0),
    Column("credited_last_used_at", Double),
)

# One row for each outcome that credited a record: what the past is answered from.
competence_credits = keyed_table(
    "competence_credits",
    Column("competence_id", String(64), primary_key=True),
    Column("outcome", Id, primary_key=True, autoincrement=False),
    Column("project_id", Id, nullable=False),
    *columns("received_at ended_at", Double, nullable=False),
    Column("success", Boolean, nullable=False),
    Column("duration_ms", BigInteger),
    # Whether it is an episode that consolidation has yet to look at.
    Column("is_pending", Boolean, nullable=False),
    # When it was counted as one of the record's own episodes, or replaced by another record of the
    # outcome, so that it counts here no longer.
    Column("counted_at", Double),
)
Index("ix_competence_credits_project", competence_credits.c.project_id)

# The words of each selectable record's phrases, by numbers.
competence_words = keyed_table(
    "competence_words",
    Column("project_id", Id, primary_key=True, autoincrement=False),
    Column("word", BigInteger, primary_key=True, autoincrement=False),
    # The record's words_key, shifted, and the phrase's number in the last seven bits.
    Column("phrase", BigInteger, primary_key=True, autoincrement=False),
    # How many words the phrase has.
    Column("size", BigInteger, nullable=False),
)

# Every change of every record. It outlives the record, so it refers to none.
competence_history = table(
    "competence_history",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("competence_id", String(64), nullable=False),
    Column("action", String(16), nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("rationale", Text, nullable=False),
    # The record as it was from then on; None: it was removed, or its content was erased.
    Column("snapshot", Text),
    Index("ix_competence_history_of", "competence_id", "at", "id"),
    Index("ix_competence_history_at", "project_id", "at"),
)

# One row for each run; finished_at stays empty when the run died.
consolidation_runs = table(
    "consolidation_runs",
    Column("id", Id, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False, index=True),
    Column("actor", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    *columns("finished_at duration_ms", Double),
    *columns("episodes_read signatures_touched", BigInteger, nullable=False),
    *columns("records_created records_reinforced records_updated", BigInteger, nullable=False),
    # A JSON object: reason → count.
    Column("skipped", Text, nullable=False),
)
