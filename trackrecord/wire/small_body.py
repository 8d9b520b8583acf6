"""Encode and decode a small body of the stream: a memory, an exposure, an error and the like."""

import re
from collections.abc import Iterable
from typing import TypeVar

import msgspec

_Body = TypeVar("_Body")
_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")


def encoded(
    encoder: msgspec.json.Encoder, body: object, *, what: str, refusal: type[Exception]
) -> bytes:
    """Return a body as JSON.

    Args:
        encoder: the encoder.
        body: the body.
        what: what messages call it.
        refusal: what is raised if it has a text that JSON cannot hold.
    """
    try:
        return encoder.encode(body)
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        message = f"the {what} cannot be written as JSON ({type(error).__name__})"
        raise refusal(message) from None


def decoded(
    decoder: msgspec.json.Decoder[_Body],
    body: bytes,
    *,
    what: str,
    max_bytes: int,
    refusal: type[Exception],
) -> _Body:
    """Return the decoded body.

    Args:
        decoder: of its type.
        body: as it came.
        what: what messages call it.
        max_bytes: how large it may be.
        refusal: what is raised if it is too large, not JSON, or not of its type. The message never
            repeats the body's content.
    """
    if len(body) > max_bytes:
        message = f"the {what} has {len(body)} bytes, {max_bytes} are allowed"
        raise refusal(message)
    try:
        return decoder.decode(body)
    except RecursionError:
        message = f"the {what} is nested too deeply"
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        message = f"invalid {what}: {_without_value(str(error))}"
    raise refusal(message)


def refuse_unstorable(body: object, names: Iterable[str], *, refusal: type[Exception]) -> None:
    """Refuse texts that databases cannot store.

    Args:
        body: as it was decoded.
        names: its fields that are a text, several texts or None.
        refusal: what is raised; the message names the field.
    """
    for name in names:
        value: str | tuple[str, ...] = getattr(body, name) or ""
        texts = (value,) if isinstance(value, str) else value
        if any(_UNSTORABLE.search(text) for text in texts):
            message = f"field {name} contains a NUL character or a lone surrogate"
            raise refusal(message)


def _without_value(reason: str) -> str:
    """Return a decoder's reason without the value that it quotes; the field is named last."""
    if not reason.startswith("Invalid enum value"):
        return reason
    _, _, field = reason.rpartition(" - at ")
    return f"Not one of the allowed values - at {field}"
