"""A recall on the wire: memories that were recalled outside of any task.

All input from outside is checked here, once, whichever way it came.
"""

from typing import Annotated, Final

import msgspec

from trackrecord.errors import InvalidRecall
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName

from .outcome import MAX_BODY_BYTES
from .small_body import decoded, encoded, refuse_unstorable

MAX_MEMORIES: Final = 1000

MemoryId = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]


class RecallBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The recalled memories.

    Attributes are those of the wire format.
    """

    memories: tuple[MemoryId, ...]
    project: ProjectName = DEFAULT_PROJECT
    at: Annotated[float, msgspec.Meta(ge=0)] | None = None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(RecallBody)


def encode_recall(recall: RecallBody) -> bytes:
    """Return the body of a recall.

    Raises:
        InvalidRecall: it has a text that JSON cannot hold.
    """
    return encoded(_encoder, recall, what="recall", refusal=InvalidRecall)


def decode_recall(body: bytes, *, max_bytes: int = MAX_BODY_BYTES) -> RecallBody:
    """Decode and check one body.

    Raises:
        InvalidRecall: it is too large, not JSON, not an object, or a field is of the wrong type or
            range. The message never repeats the body's content.
    """
    recall = decoded(_decoder, body, what="recall", max_bytes=max_bytes, refusal=InvalidRecall)
    if len(recall.memories) > MAX_MEMORIES:
        message = f"the recall has {len(recall.memories)} memories, {MAX_MEMORIES} are allowed"
        raise InvalidRecall(message)
    refuse_unstorable(recall, ("project", "memories"), refusal=InvalidRecall)
    return recall
