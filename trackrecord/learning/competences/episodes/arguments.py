"""Arguments: the names and JSON types of a tool call's arguments, never their values."""

import msgspec

MAX_NAMES = 32
MAX_NAME_CHARS = 128

_TYPES = {
    str: "string", int: "number", float: "number", bool: "boolean", list: "array",
    dict: "object", type(None): "null",
}  # fmt: skip
_json = msgspec.json.Decoder()


def argument_types(args: msgspec.Raw) -> list[tuple[str, str]]:
    """Return the names and JSON types of one call's arguments, from their undecoded JSON.

    Arguments may be an object, or a text that holds one, as OpenAI's function calls carry them;
    anything else has no names. The first 32 names count, of those that have at most 128 characters
    and no NUL, which PostgreSQL does not store.
    """
    named = _decoded(args)
    if isinstance(named, str):
        named = _decoded(named)
    if not isinstance(named, dict):
        return []
    return [
        (name, _TYPES[type(value)])
        for name, value in named.items()
        if len(name) <= MAX_NAME_CHARS and "\0" not in name
    ][:MAX_NAMES]


def _decoded(json: msgspec.Raw | str) -> object:
    try:
        return _json.decode(json)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
