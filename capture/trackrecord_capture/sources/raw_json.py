"""Parts of JSON that stay undecoded until they are needed, and may then be of any type."""

from typing import Any, Final, TypeVar

import msgspec

from trackrecord.wire.storable import decoded

_Record = TypeVar("_Record", bound=msgspec.Struct)
ABSENT: Final = msgspec.Raw()


def record_in(
    line: bytes, kind: type[_Record], decoder: "msgspec.json.Decoder[_Record]"
) -> _Record:
    """Decode a record of raw parts, texts and flags; one of another type is left out.

    Args:
        line: the record.
        kind: its type.
        decoder: decodes that type.

    Raises:
        ValueError: it is not an object in JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        return decoded(line, decoder)
    except msgspec.ValidationError:
        value = decoded(line)
        if not isinstance(value, dict):
            raise
    flags = {field.encode_name for field in msgspec.structs.fields(kind) if field.default is False}
    raw = {field.encode_name for field in msgspec.structs.fields(kind) if field.type is msgspec.Raw}
    fit = {
        name: each
        for name, each in value.items()
        if name in raw or isinstance(each, bool if name in flags else str)
    }
    return decoder.decode(msgspec.json.encode(fit))


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
