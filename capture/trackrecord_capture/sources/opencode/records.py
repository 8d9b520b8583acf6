"""The parts of opencode's sessions, messages and parts that are read; they are JSON."""

import msgspec

from trackrecord.wire.storable import decoded

from ..raw_json import ABSENT


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session.

    Attributes:
        id: its id.
        folder: the folder that it works in.
        parent: the id of the session that started it as a sub-agent; "" if none did.
        reverted: the id of the first message that the person took back; "" if none.
        begun_at: when it began, in milliseconds; what is older was copied into it by a fork.
    """

    id: str
    folder: str = ""
    parent: str = ""
    reverted: str = ""
    begun_at: int = 0


class SessionMessage(msgspec.Struct, gc=False):
    """A message; what cannot be relied on stays undecoded."""

    role: str = ""
    id: str = ""
    time: msgspec.Raw = ABSENT
    error: msgspec.Raw = ABSENT
    finish: msgspec.Raw = ABSENT
    modelID: msgspec.Raw = ABSENT  # noqa: N815 - opencode's name
    agent: msgspec.Raw = ABSENT
    path: msgspec.Raw = ABSENT
    tokens: msgspec.Raw = ABSENT
    cost: msgspec.Raw = ABSENT


class Part(msgspec.Struct, gc=False):
    """A part of a message."""

    type: str = ""
    text: msgspec.Raw = ABSENT
    synthetic: msgspec.Raw = ABSENT
    ignored: msgspec.Raw = ABSENT
    tool: msgspec.Raw = ABSENT
    callID: msgspec.Raw = ABSENT  # noqa: N815 - as above
    state: msgspec.Raw = ABSENT
    prompt: msgspec.Raw = ABSENT
    command: msgspec.Raw = ABSENT


_messages = msgspec.json.Decoder(SessionMessage)
_parts = msgspec.json.Decoder(Part)


def decode_message(text: str | bytes) -> SessionMessage:
    """Decode a message.

    Raises:
        ValueError: it is not one.
        RecursionError: it is nested too deeply.
    """
    return decoded(text, _messages)


def decode_part(text: str | bytes) -> Part:
    """Decode a part of a message.

    Raises:
        ValueError: it is not one.
        RecursionError: it is nested too deeply.
    """
    return decoded(text, _parts)
