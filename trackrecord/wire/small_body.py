"""Decode a small body of the stream: a memory, an exposure, an error or feedback."""

from typing import TypeVar

import msgspec

_Body = TypeVar("_Body")


def decoded(
    decoder: msgspec.json.Decoder[_Body],
    body: bytes,
    *,
    what: str,
    max_bytes: int,
    refusal: type[Exception],
) -> _Body:
    """Return what a body holds.

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


def _without_value(reason: str) -> str:
    """Return a decoder's reason without the value that it quotes; the field is named last."""
    if not reason.startswith("Invalid enum value"):
        return reason
    _, _, field = reason.rpartition(" - at ")
    return f"Not one of the allowed values - at {field}"
