"""Encode and decode a small body of the stream: a memory, an exposure, an error and the like."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

import msgspec

from .outcome import MAX_BODY_BYTES, without_value

_Body = TypeVar("_Body")
_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")


@dataclass(frozen=True)
class SmallForm(Generic[_Body]):
    """The form of one kind of small body.

    Attributes:
        kind: the class of its bodies.
        what: what messages call one.
        refusal: what is raised for one that is not valid. The message never repeats its content.
        checked: the fields whose texts must be storable, as they are: a text, texts or None.
        most: by field, how many texts it may have.
    """

    kind: type[_Body]
    what: str
    refusal: type[Exception]
    checked: str
    most: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[_Body]:
        return msgspec.json.Decoder(self.kind)

    def encode(self, body: _Body) -> bytes:
        """Return a body as JSON; raise the refusal if it has a text that JSON cannot hold."""
        try:
            return msgspec.json.encode(body)
        except (msgspec.MsgspecError, UnicodeEncodeError) as error:
            message = f"the {self.what} cannot be written as JSON ({type(error).__name__})"
            raise self.refusal(message) from None

    def decode(self, body: bytes, *, max_bytes: int = MAX_BODY_BYTES) -> _Body:
        """Decode and check one body.

        It is refused if it is too large, not JSON, not an object, or a field is of the wrong type
        or range, or is missing.
        """
        decoded = self._decoded(body, max_bytes)
        for name, most in self.most.items():
            if (count := len(getattr(decoded, name))) > most:
                message = f"the {self.what} has {count} {name}, {most} are allowed"
                raise self.refusal(message)
        for name in self.checked.split():
            value: str | tuple[str, ...] = getattr(decoded, name) or ""
            texts = (value,) if isinstance(value, str) else value
            if any(_UNSTORABLE.search(text) for text in texts):
                message = f"field {name} contains a NUL character or a lone surrogate"
                raise self.refusal(message)
        return decoded

    def _decoded(self, body: bytes, max_bytes: int) -> _Body:
        if len(body) > max_bytes:
            message = f"the {self.what} has {len(body)} bytes, {max_bytes} are allowed"
            raise self.refusal(message)
        try:
            return self._decoder.decode(body)
        except RecursionError:
            message = f"the {self.what} is nested too deeply"
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            message = f"invalid {self.what}: {without_value(str(error))}"
        raise self.refusal(message)
