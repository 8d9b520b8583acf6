"""A hint on the wire: what a failing call was told, or would have been told.

All input from outside is checked here, once, whichever way it came.
"""

from typing import Annotated

import msgspec

from trackrecord.errors import InvalidHint
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName

from .outcome import MAX_BODY_BYTES
from .small_body import decoded, encoded, refuse_unstorable

HintId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Label = Annotated[str, msgspec.Meta(max_length=256)]
Named = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
Line = Annotated[str, msgspec.Meta(max_length=512)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]


class HintBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hint of one session, given or not.

    Attributes are those of the wire format.
    """

    session: Named
    entry: Annotated[str, msgspec.Meta(min_length=1, max_length=512)]
    kind: Named
    given: bool
    probability: Probability
    project: ProjectName = DEFAULT_PROJECT
    hint_id: HintId | None = None
    at: Annotated[float, msgspec.Meta(ge=0)] | None = None
    source: Label = ""
    agent: Label = ""
    key: Line = ""
    check: Label = ""
    tool: Label = ""
    text: Line = ""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(HintBody)


def encode_hint(hint: HintBody) -> bytes:
    """Return the body of a hint.

    Raises:
        InvalidHint: it has a text that JSON cannot hold.
    """
    return encoded(_encoder, hint, what="hint", refusal=InvalidHint)


def decode_hint(body: bytes, *, max_bytes: int = MAX_BODY_BYTES) -> HintBody:
    """Decode and check one body.

    Raises:
        InvalidHint: it is too large, not JSON, not an object, or a field is of the wrong type or
            range. The message never repeats the body's content.
    """
    hint = decoded(_decoder, body, what="hint", max_bytes=max_bytes, refusal=InvalidHint)
    names = (
        "project", "hint_id", "session", "agent", "entry", "kind", "source", "key", "check", "tool",
        "text",
    )  # fmt: skip
    refuse_unstorable(hint, names, refusal=InvalidHint)
    return hint
