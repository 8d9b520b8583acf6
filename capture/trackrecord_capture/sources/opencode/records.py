"""The parts of opencode's sessions, messages and parts that are read; they are JSON."""

from typing import Any

import msgspec

from trackrecord.wire.storable import decoded

from ..json_values import as_list, as_object, as_text, words_in
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


def decode_whole_message(text: str | bytes, kind: str) -> tuple[SessionMessage, list[Part]]:
    """Decode a message of version 2, which holds its parts; both are those of version 1.

    Args:
        text: the message.
        kind: its type: "user", "assistant", or "shell" for a command of the person's.

    Raises:
        ValueError: it is not one.
        RecursionError: it is nested too deeply.
    """
    data = as_object(decoded(text))
    parts = [as_object(part) for part in as_list(data.get("content"))]
    if kind == "user":
        parts = [{"type": "text", "text": data.get("text")}]
    elif kind == "shell":
        state = {"status": "completed", "input": {"command": data.get("command")}}
        state |= {name: data[name] for name in ("output", "metadata") if name in data}
        call = {"type": "tool", "id": data.get("callID"), "name": "bash", "state": state}
        parts = [call | {"time": data.get("time")}]
    error = data.get("error")
    known: dict[str, Any] = {
        name: data[name] for name in ("time", "finish", "agent", "tokens", "cost") if name in data
    }
    known["modelID"] = as_object(data.get("model")).get("id")
    known["role"] = "assistant" if kind == "shell" else kind
    known["error"] = {"data": {"message": error}} if isinstance(error, str) else error
    message = decode_message(msgspec.json.encode(known))
    return message, [decode_part(msgspec.json.encode(_part(part))) for part in parts]


def _part(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") != "tool":
        return {name: part.get(name) for name in ("type", "text")}
    state, time = as_object(part.get("state")), as_object(part.get("time"))
    error = as_object(state.get("error")).get("message", state.get("error"))
    known = {
        "output": as_text(state.get("output")) or words_in(state.get("content")),
        "metadata": as_object(state.get("metadata")) or as_object(state.get("structured")),
        "time": {"start": time.get("ran", time.get("created")), "end": time.get("completed")},
        "error": error,
    }
    return {
        "type": "tool",
        "tool": part.get("name"),
        "callID": part.get("id"),
        "state": state | known,
    }
