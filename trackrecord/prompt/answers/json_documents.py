"""Answers of prompts as JSON objects: the same for every reader."""

from functools import lru_cache, partial
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


def _encoded_entries(answer: Rankings) -> dict[str, msgspec.Raw]:
    documents = {}
    for feed in FEEDS:
        entries = getattr(answer, feed.field)[:MOST_ENTRIES]
        fitting = answer.fitting.get(feed.field, frozenset())
        told = {entry.id for entry in answer.told.get(feed.field, ())}
        documents[feed.field] = b",".join(
            [
                _encoded(_SameEntry(each))[:-1]
                + (b',"fits":true' if each.id in fitting else b',"fits":false')
                + (b',"is_told":true}' if each.id in told else b',"is_told":false}')
                for each in entries
            ]
        )
    documents["criteria"] = b",".join([_encoded(_SameEntry(each)) for each in answer.criteria])
    documents["why"] = msgspec.json.encode(answer.why)[1:-1]
    return {name: msgspec.Raw(b"[%s]" % entries) for name, entries in documents.items()}


class _SameEntry:
    """An entry, equal to itself alone: that of a cached document is in answer after answer."""

    def __init__(self, entry: msgspec.Struct) -> None:
        self.entry = entry

    def __hash__(self) -> int:
        return id(self.entry)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameEntry) and self.entry is other.entry


@lru_cache(maxsize=4 * MOST_ENTRIES)
def _encoded(same: _SameEntry) -> bytes:
    document = shown(same.entry)
    document |= {name: iso(document[name]) for name in INSTANTS if name in document}
    if isinstance(same.entry, (RankedPattern, RankedCompetence)):
        document |= {"success_rate": same.entry.success_rate, "interval": same.entry.interval}
    return msgspec.json.encode(document)


def context_document(answer: Context) -> dict[str, Any]:
    """Return a composed prompt as a JSON object."""
    document = dict(vars(answer))
    return document | {name: [*map(shown, document[name])] for name in ("taken", "left_out")}
