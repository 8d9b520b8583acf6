"""Answers of prompts as JSON objects: the same for every reader."""

from functools import partial
from typing import Any, Final

import msgspec

from trackrecord.learning.text.times import iso

from ..candidates.sections import FEEDS
from ..documents.labels import shown
from ..documents.rankings_document import RankedCompetence, RankedPattern
from .context_answer import Context
from .rankings_answer import Rankings

# Fields of entries that are moments. They are ISO 8601 in JSON, as in the lists.
INSTANTS: Final = ("ended_at", "last_reinforced_at", "last_seen", "last_validated")
# More of one section than these are not sent to every prompt; they can be listed.
MOST_ENTRIES: Final = 100
# What an answer has beside its JSON.
NOT_IN_JSON: Final = ("told", "_details")


def rankings_document(answer: Rankings) -> dict[str, Any]:
    """Return rankings as a JSON object, without the lines that the prompt contains already.

    Args:
        answer: the rankings.
    """
    document = {name: value for name, value in vars(answer).items() if name not in NOT_IN_JSON}
    return document | answer.details.encoded(partial(_encoded_entries, answer))


def _encoded_entries(answer: Rankings) -> dict[str, Any]:
    documents: dict[str, Any] = {}
    for feed in FEEDS:
        entries = getattr(answer, feed.field)[:MOST_ENTRIES]
        fitting = answer.fitting.get(feed.field, frozenset())
        told = {entry.id for entry in answer.told.get(feed.field, ())}
        documents[feed.field] = [
            _entry_document(each) | {"fits": each.id in fitting, "is_told": each.id in told}
            for each in entries
        ]
    documents["criteria"] = [_entry_document(entry) for entry in answer.criteria]
    documents["why"] = answer.why
    return {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in documents.items()}


def _entry_document(entry: msgspec.Struct) -> dict[str, Any]:
    document = shown(entry)
    document |= {name: iso(document[name]) for name in INSTANTS if name in document}
    if isinstance(entry, (RankedPattern, RankedCompetence)):
        document |= {"success_rate": entry.success_rate, "interval": entry.interval}
    return document


def context_document(answer: Context) -> dict[str, Any]:
    """Return a composed prompt as a JSON object."""
    document = dict(vars(answer))
    return document | {name: [*map(shown, document[name])] for name in ("taken", "left_out")}
