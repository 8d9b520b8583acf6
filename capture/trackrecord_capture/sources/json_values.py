"""Values of decoded JSON that may be of any type: what an agent wrote is not to be trusted."""

from pathlib import Path
from typing import Any, Final

from trackrecord.wire.storable import decoded

LARGEST_COUNT: Final = 2**53
NOT_AN_OBJECT: Final = "it is not an object in JSON"
_LARGEST_FILE: Final = 16 * 1024 * 1024


def as_object(value: object) -> dict[str, Any]:
    """Return an object; an empty one for everything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return an array; an empty one for everything else."""
    return value if isinstance(value, list) else []


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the parts of an array as objects; none of everything else."""
    return list(map(as_object, as_list(value)))


def as_text(value: object) -> str:
    """Return a string; "" for everything else."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int | None:
    """Return a number that can be a count; None for everything else."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return int(value) if 0 <= value <= LARGEST_COUNT else None


def as_status(value: object) -> int | None:
    """Return an exit status; None for everything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if abs(value) < 2**31 else None


def words_in(content: object) -> str:
    """Return the text in the content of a message: a string, or an array of parts."""
    if isinstance(content, str):
        return content
    parts = (as_object(part) for part in as_list(content))
    texts = (as_text(part.get("text")) for part in parts if part.get("type", "text") == "text")
    return "\n".join(text for text in texts if text)


def value_in(text: str, otherwise: object = None) -> Any:  # noqa: ANN401 - JSON of any kind
    """Decode a text of JSON; return something else for what cannot be decoded."""
    try:
        return decoded(text)
    except (ValueError, RecursionError):
        return otherwise


def object_from(text: str | bytes) -> dict[str, Any]:
    """Decode an object.

    Raises:
        ValueError: it is not one in JSON.
        RecursionError: it is nested too deeply.
    """
    value = decoded(text)
    if not isinstance(value, dict):
        raise ValueError(NOT_AN_OBJECT)
    return value


def object_in(path: Path) -> dict[str, Any]:
    """Return the object that a small file of JSON holds; an empty one if it cannot be read."""
    try:
        with path.open("rb") as file:
            return as_object(decoded(file.read(_LARGEST_FILE)))
    except (OSError, ValueError, RecursionError):
        return {}
