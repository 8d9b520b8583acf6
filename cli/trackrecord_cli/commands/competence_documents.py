"""Competence records as the command line's JSON shows them."""

from typing import Any

from trackrecord.learning.competences.document import Reading, document_of
from trackrecord.learning.competences.record import Competence
from trackrecord.times import iso


def as_document(record: Competence, reading: Reading) -> dict[str, Any]:
    """A record as JSON shows it; its times as ISO 8601."""
    document = document_of(record, reading)
    for part, name in (
        (document, "created_at"),
        (document, "updated_at"),
        (document["lifecycle"], "last_reinforced_at"),
        (document["performance"], "last_used_at"),
    ):
        part[name] = iso(part[name])
    return document
