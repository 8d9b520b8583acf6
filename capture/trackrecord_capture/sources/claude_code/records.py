"""The records of a transcript, as far as anything in them is used.

The format is Claude Code's own and changes with its versions: whatever is not needed stays
undecoded, and what is needed may be missing or of another type.
"""

from typing import Final

import msgspec

from trackrecord.wire.storable import decoded

from ..json_values import as_text, objects_in
from ..moments import seconds_of
from ..raw_json import ABSENT, object_of, record_in, text_of, value_of


class TranscriptRecord(msgspec.Struct, rename="camel", gc=False):
    """One line of a transcript."""

    type: str = ""
    subtype: str = ""
    uuid: str = ""
    parent_uuid: str | msgspec.UnsetType | None = msgspec.UNSET
    leaf_uuid: str = ""
    prompt_id: str = ""
    prompt_source: msgspec.Raw = ABSENT
    forked_from: msgspec.Raw = ABSENT
    session_id: str = ""
    timestamp: str = ""
    cwd: str = ""
    git_branch: str = ""
    entrypoint: str = ""
    attribution_agent: str = ""
    is_meta: bool = False
    is_sidechain: bool = False
    is_compact_summary: bool = False
    is_api_error_message: bool = False
    error: msgspec.Raw = ABSENT
    tool_denial_kind: str = ""
    origin: msgspec.Raw = ABSENT
    message: msgspec.Raw = ABSENT
    tool_use_result: msgspec.Raw = ABSENT
    attachment: msgspec.Raw = ABSENT

    @property
    def at(self) -> float | None:
        """The moment when it was written; None if unknown."""
        return seconds_of(self.timestamp)

    @property
    def parent(self) -> str:
        """The id of the record before it; "" if none is named."""
        return self.parent_uuid or ""

    @property
    def key(self) -> str:
        """The id of its prompt; in older versions, which lack it, its own."""
        return self.prompt_id or self.uuid

    @property
    def is_of_person(self) -> bool:
        """Return whether a person can have written it: no other origin is named."""
        kind = object_of(self.origin).get("kind")
        return kind is None or kind == "human"


class RecordMessage(msgspec.Struct):
    """The message of a record."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    content: msgspec.Raw = ABSENT
    usage: msgspec.Raw = ABSENT


class Block(msgspec.Struct):
    """One part of a message."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = ABSENT
    tool_use_id: str | None = None
    content: msgspec.Raw = ABSENT
    is_error: bool | None = None


_record: Final = msgspec.json.Decoder(TranscriptRecord)
_message: Final = msgspec.json.Decoder(RecordMessage)
_blocks: Final = msgspec.json.Decoder(list[Block])
_LONGEST_RESULT: Final = 1024 * 1024


def decode_record(line: bytes) -> TranscriptRecord:
    """Decode a line.

    Raises:
        ValueError: it is not an object in JSON.
    """
    return record_in(line, TranscriptRecord, _record)


def message_of(record: TranscriptRecord) -> RecordMessage:
    """Return the message of a record; an empty one if it cannot be read."""
    try:
        return decoded(record.message, _message)
    except (ValueError, RecursionError):
        return RecordMessage()


def blocks_of(message: RecordMessage) -> list[Block]:
    """Return the parts of a message; a plain text is one part."""
    content = message.content
    if bytes(content)[:1] == b'"':
        return [Block(type="text", text=text_of(content))]
    try:
        return decoded(content, _blocks)
    except (ValueError, RecursionError):
        return _one_by_one(content)


def _one_by_one(content: msgspec.Raw) -> list[Block]:
    """Return those parts that are of a known form."""
    found = []
    value = value_of(content)
    for part in value if isinstance(value, list) else ():
        try:
            found.append(msgspec.convert(part, Block, strict=False))
        except (ValueError, RecursionError):
            continue
    return found


def result_text(content: msgspec.Raw) -> str:
    """Return the text of a tool's result, which is a text or a list of parts."""
    if len(content) > _LONGEST_RESULT:
        # An image, or a whole file: of a text the beginning would do, but JSON is read whole.
        return ""
    value = value_of(content)
    if isinstance(value, str):
        return value
    return "\n".join(as_text(part.get("text")) for part in objects_in(value))
