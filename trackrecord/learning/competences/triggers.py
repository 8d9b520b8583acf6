"""Triggers: the conditions of a task's trigger, in a form that can be counted."""

import msgspec

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
