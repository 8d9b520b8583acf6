"""A memory on the wire: decode bodies into memories, and refuse invalid ones.

All input from outside is checked here, once, whichever way it came.
"""

from typing import Annotated, Final

import msgspec

from trackrecord.errors import InvalidMemory
from trackrecord.learning.memories.rules import MAX_TEXT_CHARS, without_prefix
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName

from .outcome import MAX_BODY_BYTES
from .small_body import SmallForm
from .storable import storable_text

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
Label = Annotated[str, msgspec.Meta(max_length=256)]


class MemoryBody(msgspec.Struct, frozen=True, kw_only=True):
    """A short fact that an agent stores.

    Attributes are those of the wire format.
    """

    text: str
    project: ProjectName = DEFAULT_PROJECT
    memory_id: Name | None = None
    source: Label | None = None
    force: bool = False


_FORM: Final = SmallForm(MemoryBody, "memory", InvalidMemory, "project memory_id source")


def decode_memory(body: bytes, *, max_bytes: int = MAX_BODY_BYTES) -> MemoryBody:
    """Decode and check one body.

    Raises:
        InvalidMemory: it is too large, not JSON, not an object, a field is of the wrong type or
            range, or its text is blank or too long. The message never repeats the body's content.
    """
    memory = _FORM.decode(body, max_bytes=max_bytes)
    checked_text(memory.text)
    return memory


def checked_text(text: str) -> str:
    """Return a memory's text as it is stored, without the blanks around it.

    Raises:
        InvalidMemory: the text is blank or too long.
    """
    text = text.strip()
    if not without_prefix(f"{text} ").strip():
        message = "the text of a memory is blank: write a sentence to remember"
        raise InvalidMemory(message)
    if len(text) > MAX_TEXT_CHARS:
        message = f"the text of a memory has {len(text)} characters, {MAX_TEXT_CHARS} are allowed"
        raise InvalidMemory(message)
    return storable_text(text)
