"""Parts of JSON that stay undecoded until they are needed, and may then be of any type."""

from typing import Any, Final

import msgspec

from trackrecord.wire.storable import decoded

ABSENT: Final = msgspec.Raw()


def value_of(raw: msgspec.Raw) -> Any:  # noqa: ANN401 - JSON of any kind
    """Decode a part; None if it is absent or cannot be read."""
    if not bytes(raw):
        return None
    try:
        return decoded(raw)
    except (ValueError, RecursionError):
        return None


def text_of(raw: msgspec.Raw) -> str:
    """Return a part that is a text; "" for everything else."""
    value = value_of(raw)
    return value if isinstance(value, str) else ""


def object_of(raw: msgspec.Raw) -> dict[str, Any]:
    """Return a part that is an object; an empty one for everything else."""
    value = value_of(raw)
    return value if isinstance(value, dict) else {}
