"""Answers of prompts as JSON objects: the same for every reader."""

from typing import Any, Final

import msgspec

from trackrecord.learning.text.times import iso

from ..candidates.sections import FEEDS
from ..documents.labels import shown
from .context_answer import Context
from .rankings_answer import Rankings

# Fields of entries that are moments. They are ISO 8601 in JSON, as in the lists.
INSTANTS: Final = ("ended_at", "last_seen", "last_validated")


def rankings_document(answer: Rankings) -> dict[str, Any]:
    """Return rankings as a JSON object, without the lines that the prompt contains already.

    Args:
        answer: the rankings.
    """
    document = {name: value for name, value in vars(answer).items() if name[0] != "_"}
    document["why"] = answer.why
    for name in (*(feed.field for feed in FEEDS), "criteria"):
        document[name] = [_entry_document(entry) for entry in document[name]]
    return document


def _entry_document(entry: msgspec.Struct) -> dict[str, Any]:
    document = shown(entry)
    return document | {name: iso(document[name]) for name in INSTANTS if name in document}


def context_document(answer: Context) -> dict[str, Any]:
    """Return a composed prompt as a JSON object."""
    document = dict(vars(answer))
    return document | {name: [*map(shown, document[name])] for name in ("taken", "left_out")}
