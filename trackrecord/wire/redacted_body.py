"""Replace the secrets in a report, whichever way it came in.

A producer does this before anything leaves its process, and marks the entry with `MARK`; the worker
does it for entries without the mark, which others have added to the stream.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from trackrecord.learning.text.redaction import is_plain, redacted, redacted_value

# Each level is two calls, of the thousand that Python allows.
_DEEPEST: Final = 200


def redacted_body(body: bytes) -> bytes:
    """Return a body of any kind with its secrets replaced; the same bytes where it holds none.

    Ids and names stay: something is found again by them. What is no JSON object is read as a text.
    """
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        text = body.decode(errors="surrogateescape")
        return redacted(text).encode(errors="surrogateescape")
    kept = _object(fields, _APART)
    return body if kept == fields else msgspec.json.encode(kept)


def _object(value: Any, apart: Mapping[str, Callable[[Any], Any]]) -> Any:  # noqa: ANN401 - any JSON
    if not isinstance(value, dict):
        return _any(value)
    kept = {name: apart[name](inner) for name, inner in value.items() if name in apart}
    return kept | _any({name: inner for name, inner in value.items() if name not in apart})


def _any(value: Any) -> Any:  # noqa: ANN401 - any JSON
    return redacted_value(value, None, _DEEPEST)


def _id(value: Any) -> Any:  # noqa: ANN401 - any JSON
    return value if is_plain(value) else _any(value)


def _calls(value: Any) -> Any:  # noqa: ANN401 - any JSON
    return [_object(each, _OF_CALLS) for each in value] if isinstance(value, list) else _any(value)


def _criteria(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if not isinstance(value, dict):
        return _any(value)
    # Whatever their names tell of, what stands behind them is a verdict.
    return {redacted(name): _any(verdict) for name, verdict in value.items()}


_OF_CALLS: Final = dict.fromkeys(("tool", "id", "depends_on"), _id)
_APART: Final = {
    **dict.fromkeys(
        (
            "project", "source", "reporter", "agent", "session", "task_id", "bead_id", "outcome_id",
            "attempt_id", "error_id", "feedback_id", "hint_id", "exposure_id", "entries", "entry",
            "competence_id", "memory_id", "memory_ids", "memories", "memory", "commits", "thinned",
            "tool", "tool_name",
        ),
        _id,
    ),
    "tool_graph": _calls,
    "criteria": _criteria,
}  # fmt: skip
