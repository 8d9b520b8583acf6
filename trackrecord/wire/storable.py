"""JSON whose texts every database and every reader can hold.

An output that was cut in the middle of an emoji ends with half a surrogate pair, and the output of
a binary holds NUL. Neither can be stored: each is replaced by U+FFFD, and the rest is taken.
"""

import re
from collections import Counter
from typing import Any, Final, TypeVar, overload

import msgspec

_Decoded = TypeVar("_Decoded")
_REPLACEMENT: Final = "\ufffd"
_ESCAPED_REPLACEMENT: Final = rb"\ufffd"
# JSON up to an escape of what cannot be stored; possessive, so that it is linear.
_STORABLE: Final = re.compile(
    rb"(?:[^\\]++|\\[^u]|\\u(?!0000|[dD][89a-fA-F])|\\u[dD][89abAB]..\\u[dD][c-fC-F]..)*+",
    re.DOTALL,
)
_ESCAPES: Final = (b"\\u0000", b"\\ud", b"\\uD")
_UNSTORABLE: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})")
# A surrogate that somebody has written as if it were a character.
_AS_UTF_8: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_mended: Final = Counter[str]()
_anything: "Final[msgspec.json.Decoder[Any]]" = msgspec.json.Decoder()


def storable(json: bytes) -> bytes:
    """Return JSON in whose texts nothing is left that cannot be stored.

    Returns:
        The same object if there is nothing to replace.
    """
    if b"\xed" in json and _AS_UTF_8.search(json):
        _mended["json"] += 1
        return _without_escapes(_AS_UTF_8.sub(_REPLACEMENT.encode(), json))
    # A single byte is found several times as fast as two.
    if b"\\" in json and any(escape in json for escape in _ESCAPES):
        return _without_escapes(json)
    return json


def mended_here() -> int:
    """Return how many times this process has replaced anything."""
    return _mended.total()


def _without_escapes(json: bytes) -> bytes:
    parts: list[bytes] = []
    begin = 0
    while (found := _STORABLE.match(json, begin)) and (
        unstorable := _UNSTORABLE.match(json, found.end())
    ):
        parts += (json[begin : found.end()], _ESCAPED_REPLACEMENT)
        begin = unstorable.end()
    if not parts:
        return json
    _mended["json"] += 1
    return b"".join((*parts, json[begin:]))


def storable_text(text: str) -> str:
    """Return a text in which nothing is left that cannot be stored."""
    # The halves of a pair find each other.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", _REPLACEMENT)


def encoded(encoder: msgspec.json.Encoder, value: object) -> bytes:
    """Return a value as JSON that can be stored."""
    try:
        return storable(encoder.encode(value))
    except UnicodeEncodeError:
        _mended["value"] += 1
        return storable(encoder.encode(_storable_value(value, encoder)))


@overload
def decoded(json: bytes | str) -> Any: ...  # noqa: ANN401 - JSON of any kind
@overload
def decoded(json: bytes | str, decoder: "msgspec.json.Decoder[_Decoded]") -> _Decoded: ...
def decoded(json: bytes | str, decoder: "msgspec.json.Decoder[Any]" = _anything) -> Any:
    """Decode JSON; half a character or a NUL, which no decoder takes, costs nothing but itself.

    Raises:
        ValueError: it is not JSON, or not of the decoder's type.
        RecursionError: it is nested too deeply.
    """
    try:
        return decoder.decode(json)
    except ValueError:
        given = json.encode("utf-8", "surrogatepass") if isinstance(json, str) else bytes(json)
        mended = storable(given).decode(errors="replace").replace("\0", _REPLACEMENT)
        if mended.encode() == given:
            raise
        return decoder.decode(mended)


def _storable_value(value: Any, encoder: msgspec.json.Encoder) -> Any:  # noqa: ANN401 - of any kind
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict):
        return {
            _storable_value(name, encoder): _storable_value(each, encoder)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_storable_value(each, encoder) for each in value]
    if value is None or isinstance(value, int | float | msgspec.Raw):
        return value
    plain = msgspec.to_builtins(value, str_keys=True, enc_hook=encoder.enc_hook)
    return _storable_value(plain, encoder)
