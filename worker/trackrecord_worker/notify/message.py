"""The message of a piece of news, as JSON."""

from typing import Any

import msgspec

from trackrecord.learning.text.inert import visible
from trackrecord.learning.text.redaction.redact import redacted
from trackrecord.learning.text.times import iso
from trackrecord.resources.operation.news import News


def encode_message(news: News) -> bytes:
    """Return a piece of news as JSON: its type, its moment, and its data.

    Nothing in it is secret, or would steer the terminal or the chat that shows it.
    """
    data = {
        "text": redacted(news.text),
        "project": None if news.project is None else visible(news.project),
        "subject": visible(news.subject),
        "numbers": news.numbers,
    }
    return _encode(news.kind.value, news.at, data)


def type_of(message: bytes) -> str:
    """Return the type of a message, as "pattern.proven"."""
    return str(msgspec.json.decode(message)["type"])


def example_message(*, now: float) -> bytes:
    """Return a message of the type "test", which shows only that messages arrive."""
    text = "This is a test message: notifications of trackrecord arrive here."
    return _encode("test", now, {"text": text, "project": None, "subject": "", "numbers": {}})


def _encode(message_type: str, at: float, data: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": message_type, "timestamp": iso(at), "data": data})
