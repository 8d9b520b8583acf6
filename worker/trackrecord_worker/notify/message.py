"""The message that a piece of news is told by, in the form of Standard Webhooks."""

import base64
import hmac
from hashlib import sha256
from typing import Any

import msgspec

from trackrecord.queries.news import News
from trackrecord.redaction.redact import redacted
from trackrecord.times import iso


def encode_message(news: News) -> bytes:
    """Return a piece of news as JSON: its type, its moment, and its data; without secrets."""
    document: dict[str, Any] = {
        "type": news.kind.value,
        "timestamp": iso(news.at),
        "data": {
            "text": redacted(news.text),
            "project": news.project,
            "subject": news.subject,
            "numbers": news.numbers,
        },
    }
    return msgspec.json.encode(document)


def signed_headers(message_id: str, body: bytes, key: bytes, *, now: float) -> dict[str, str]:
    """Return the headers by which a receiver knows that a message is ours, and not an old one.

    Args:
        message_id: the same each time that the message is sent.
        body: the message.
        key: the key of the signature.
        now: when it is sent, seconds since the epoch.
    """
    stamp = str(int(now))
    signed = b".".join((message_id.encode(), stamp.encode(), body))
    signature = base64.b64encode(hmac.digest(key, signed, sha256)).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{signature}",
    }
