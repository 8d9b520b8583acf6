"""Triggers: what set an episode off, in a form that can be counted."""

import msgspec

# What set a task off is told in far less; a longer text would be kept once per record.
MAX_CONDITIONS_BYTES = 2048

_json = msgspec.json.Decoder()
_canonical = msgspec.json.Encoder(order="deterministic")


def canonical_conditions(conditions: msgspec.Raw) -> str | None:
    """A trigger's conditions as JSON with sorted keys, so that the same ones are one text.

    None when there are none, or more than 2048 bytes of them.
    """
    given = memoryview(conditions)
    if not given or given.nbytes > MAX_CONDITIONS_BYTES:
        return None
    try:
        decoded = _json.decode(given)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return None if decoded is None else _canonical.encode(decoded).decode()
