"""opencode's sessions and messages, as its database holds them."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..json_values import as_list, as_object, as_text, object_from, words_in

Record = dict[str, Any]


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session.

    Attributes:
        id: its id.
        folder: the folder that it works in.
        repository: the main working tree of the folder's repository; "" if unknown.
        parent: the id of the session that started it as a sub-agent; "" if none did.
        reverted: the id of the first message that the person took back; "" if none.
        reverted_at: when that was, in milliseconds; 0 if nothing was.
        begun_at: when it began, in milliseconds; what is older was copied into it by a fork.
    """

    id: str
    folder: str = ""
    repository: str = ""
    parent: str = ""
    reverted: str = ""
    reverted_at: int = 0
    begun_at: int = 0


class StoredMessage(msgspec.Struct, frozen=True):
    """A message as it is stored.

    Attributes:
        id: its id.
        touched: when it was last changed, in milliseconds.
        message: its content.
    """

    id: str
    touched: int
    message: Record

    @property
    def is_answer(self) -> bool:
        """Return whether the model wrote it."""
        return self.message.get("role") == "assistant"


PartsOf = Callable[[str], Sequence[Record]]
"""Returns the parts of a message by its id."""


def whole_message_in(text: str | bytes, kind: str) -> tuple[Record, list[Record]]:
    """Decode a message of version 2, which holds its parts; both are those of version 1.

    Args:
        text: the message.
        kind: its type: "user", "assistant", or "shell" for a command of the person's.

    Raises:
        ValueError: it is not one.
        RecursionError: it is nested too deeply.
    """
    data = object_from(text)
    parts = list(map(as_object, as_list(data.get("content"))))
    if kind == "user":
        parts = [{"type": "text", "text": data.get("text")}]
    elif kind == "shell":
        state = {"status": "completed", "input": {"command": data.get("command")}}
        state |= {name: data[name] for name in ("output", "metadata") if name in data}
        call = {"type": "tool", "id": data.get("callID"), "name": "bash", "state": state}
        parts = [call | {"time": data.get("time")}]
    error = data.get("error")
    message = data | {
        "modelID": as_object(data.get("model")).get("id"),
        "role": "assistant" if kind == "shell" else kind,
        "error": {"data": {"message": error}} if isinstance(error, str) else error,
    }
    return message, list(map(_part, parts))


def _part(part: Record) -> Record:
    if part.get("type") != "tool":
        return part
    state, time = as_object(part.get("state")), as_object(part.get("time"))
    known = {
        "output": as_text(state.get("output")) or words_in(state.get("content")),
        "metadata": as_object(state.get("metadata")) or as_object(state.get("structured")),
        "time": {"start": time.get("ran", time.get("created")), "end": time.get("completed")},
        "error": as_object(state.get("error")).get("message", state.get("error")),
    }
    call = {"tool": part.get("name"), "callID": part.get("id"), "state": state | known}
    return {"type": "tool", **call}
