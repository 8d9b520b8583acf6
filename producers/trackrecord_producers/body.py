"""From what the agent says to the bytes that travel: completed, written as JSON, checked."""

import time
from typing import Any

from trackrecord.errors import InvalidOutcome
from trackrecord.wire.outcome import MAX_BODY_BYTES, Outcome, decode_outcome, encode_body

from .ids import new_id


def build_body(
    fields: dict[str, Any], *, project: str | None = None, max_bytes: int = MAX_BODY_BYTES
) -> tuple[str, bytes]:
    """Complete an outcome and write it; what leaves here is what the worker will learn from.

    Args:
        fields: fields of the wire format; outcome_id, timestamp and project are filled in when
            they are missing or None. The dict is changed in place.
        project: the project of an outcome that names none; None leaves it unsaid.
        max_bytes: the largest body that is allowed.

    Returns:
        The outcome's id and its body.

    Raises:
        InvalidOutcome: it is no outcome; the message repeats nothing of its content.
    """
    if fields.get("outcome_id") is None:
        fields["outcome_id"] = new_id()
    if fields.get("timestamp") is None:
        fields["timestamp"] = time.time()
    if fields.get("project") is None:
        if project is None:
            fields.pop("project", None)
        else:
            fields["project"] = project
    outcome, body = _written(fields, max_bytes)
    # As it travels: the caller may have given a UUID where the wire has text.
    assert outcome.outcome_id is not None  # noqa: S101 - narrows what was filled in above
    return outcome.outcome_id, body


def write_body(fields: dict[str, Any], *, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Write an outcome as one line of JSON, and check it as the worker will.

    Raises:
        InvalidOutcome: it is no outcome; the message repeats nothing of its content.
    """
    return _written(fields, max_bytes)[1]


def _written(fields: dict[str, Any], max_bytes: int) -> tuple[Outcome, bytes]:
    try:
        body = encode_body(fields)
    except Exception as error:  # noqa: BLE001 - the agent's own objects write themselves here
        message = f"a field cannot be written as JSON ({type(error).__name__})"
        raise InvalidOutcome(message) from None
    return decode_outcome(body, max_bytes=max_bytes), body
