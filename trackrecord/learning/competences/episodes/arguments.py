"""Arguments: the names and JSON types of a tool call's arguments, never their values."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

MAX_NAMES = 32
MAX_NAME_CHARS = 128
# Arguments of no more bytes are remembered.
_SHORT = 200

_TYPES = {
    str: "string", int: "number", float: "number", bool: "boolean", list: "array",
    dict: "object", type(None): "null",
}  # fmt: skip
_json = msgspec.json.Decoder()


def argument_types(args: msgspec.Raw) -> Sequence[tuple[str, str]]:
    """Return the names and JSON types of one call's arguments, from their undecoded JSON.

    Arguments may be an object, or a text that holds one, as OpenAI's function calls carry them;
    anything else has no names. The first 32 names count, of those that have at most 128 characters
    and no NUL, which PostgreSQL does not store.
    """
    said = bytes(args)
    return _known_types(said) if len(said) <= _SHORT else _types(said)


def _types(said: bytes) -> Sequence[tuple[str, str]]:
    named = _decoded(said)
    if isinstance(named, str):
        named = _decoded(named)
    if not isinstance(named, dict):
        return ()
    return tuple(
        [
            (name, _TYPES[type(value)])
            for name, value in named.items()
            if len(name) <= MAX_NAME_CHARS and "\0" not in name
        ][:MAX_NAMES]
    )


# One file is read, searched and edited, and one order looked up again and again.
_known_types = lru_cache(maxsize=2048)(_types)


def _decoded(json: bytes | str) -> object:
    try:
        return _json.decode(json)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
