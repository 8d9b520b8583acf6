"""The outputs of Codex' tools: text in several wrappings, with the exit status inside.

Older versions have the exit status of a command nowhere else.
"""

import re
from typing import Any, Final, NamedTuple

from ..json_values import as_object, value_in

_EXIT: Final = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_RUNNING: Final = re.compile(r"^Process running with session ID (\d+)", re.MULTILINE)
_WALL_TIME: Final = re.compile(r"^Wall time: ([\d.]+)", re.MULTILINE)
# What stands above the output proper.
_HEAD: Final = re.compile(
    r"\A(?:(?:(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines"
    r"|Process (?:exited|running) with)\b[^\n]*\n)+(?:Output:\n)?)+"
)
_HEAD_CHARS: Final = 400
_NOT_CALLED: Final = re.compile(r"unsupported call:|failed to parse function arguments")
_ABORTED: Final = re.compile(r"aborted by user\b")
_REFUSED: Final = re.compile(r"(?:\w+ )?(?:command |patch )?rejected by user\b", re.IGNORECASE)


class Output(NamedTuple):
    """The output of a tool.

    Attributes:
        text: without what Codex wrote above it.
        exit_code: of a command; None if it is not said.
        duration_ms: None if it is not said.
        session: of a command that goes on, the number under which it is asked again; "" if none.
        is_refused: whether the person did not allow the call.
        is_error: whether the answer is marked as a failure, or as none; None if it is not marked.
        is_aborted: whether the person stopped it, so that nothing is known of how it would end.
    """

    text: str
    exit_code: int | None = None
    duration_ms: float | None = None
    session: str = ""
    is_refused: bool = False
    is_error: bool | None = None
    is_aborted: bool = False


def read_output(value: Any) -> Output:  # noqa: ANN401 - decoded JSON
    """Return the output of an answer, from any of Codex's wrappings."""
    if isinstance(value, dict) and isinstance(value.get("metadata"), dict):
        return _old(value)
    text, is_error = _text(value)
    if text.startswith("{"):
        wrapped = as_object(value_in(text))
        if isinstance(wrapped.get("metadata"), dict) and isinstance(wrapped.get("output"), str):
            return _old(wrapped)
    head = text[:_HEAD_CHARS]
    exit_code, wall, session = _EXIT.search(head), _WALL_TIME.search(head), _RUNNING.search(head)
    body = _HEAD.sub("", text, count=1)
    return Output(
        body,
        int(exit_code[1]) if exit_code and len(exit_code[1]) < 12 else None,
        _millis(wall[1]) if wall else None,
        session[1] if session else "",
        is_refused=_REFUSED.match(body) is not None,
        is_error=True if _NOT_CALLED.match(body) else is_error,
        is_aborted=_ABORTED.match(body) is not None,
    )


def _old(wrapped: dict[str, Any]) -> Output:
    """Return the output in `{"output", "metadata": {"exit_code", "duration_seconds"}}`."""
    metadata, text = wrapped["metadata"], wrapped.get("output")
    code, seconds = metadata.get("exit_code"), metadata.get("duration_seconds")
    return Output(
        text if isinstance(text, str) else "",
        code if isinstance(code, int) and not isinstance(code, bool) else None,
        seconds * 1000 if isinstance(seconds, (int, float)) else None,
    )


def _text(value: Any) -> tuple[str, bool | None]:  # noqa: ANN401 - decoded JSON
    """Return the text of an answer, and whether it is marked as a failure."""
    if isinstance(value, str):
        return value, None
    if isinstance(value, list):
        return "\n".join(text for part in value if (text := _text(part)[0])), None
    if not isinstance(value, dict):
        return "", None
    marked = value.get("success")
    is_error = not marked if isinstance(marked, bool) else None
    for name in ("text", "content", "output", "content_items"):
        if isinstance(value.get(name), (str, list)):
            return _text(value[name])[0], is_error
    return "", is_error


def _millis(seconds: str) -> float | None:
    try:
        return float(seconds) * 1000
    except ValueError:
        return None
