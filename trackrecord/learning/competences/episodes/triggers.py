"""Triggers: the conditions of a task's trigger, in a form that can be counted."""

from typing import Any

import msgspec

from trackrecord.errors import InvalidRequest

# Real conditions are far shorter; a longer text would be kept once per record.
MAX_CONDITIONS_BYTES = 2048

_json = msgspec.json.Decoder()
_canonical = msgspec.json.Encoder(order="deterministic")


def canonical_conditions(conditions: msgspec.Raw) -> str | None:
    """Return a trigger's conditions as JSON with sorted keys: equal ones give the same text.

    Return None without conditions, or if they have more than 2048 bytes.
    """
    given = memoryview(conditions)
    if not given or given.nbytes > MAX_CONDITIONS_BYTES:
        return None
    try:
        decoded = _json.decode(given)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return None if decoded is None else _canonical.encode(decoded).decode()


def read_conditions(given: Any) -> Any:  # noqa: ANN401 - whatever JSON the caller gives
    """Return a caller's conditions as JSON has them.

    Raises:
        InvalidRequest: they are not JSON, or have more than 2048 bytes.
    """
    try:
        encoded = msgspec.json.encode(given)
        if len(encoded) <= MAX_CONDITIONS_BYTES:
            return _json.decode(encoded)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        pass
    message = f"conditions must be JSON of at most {MAX_CONDITIONS_BYTES} bytes"
    raise InvalidRequest(message) from None
