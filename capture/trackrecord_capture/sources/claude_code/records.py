"""The records of a transcript; any member of them may be missing, or of another type."""

from typing import Any

from ..json_values import as_text, objects_in
from ..moments import seconds_of

Record = dict[str, Any]


def moment_of(record: Record) -> float | None:
    """Return when a record was written; None if unknown."""
    return seconds_of(record.get("timestamp"))


def id_of(record: Record) -> str:
    """Return the id of a record; "" without one."""
    return as_text(record.get("uuid"))


def parent_of(record: Record) -> str:
    """Return the id of the record before it; "" if none is named."""
    return as_text(record.get("parentUuid"))


def key_of(record: Record) -> str:
    """Return the id of a record's prompt; in older versions, which lack it, the record's own."""
    return as_text(record.get("promptId")) or id_of(record)


def blocks_of(message: Record) -> list[Record]:
    """Return the parts of a message; a plain text is one part."""
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects_in(content)


def result_text(content: object) -> str:
    """Return the text of a tool's result, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(as_text(part.get("text")) for part in objects_in(content))
