"""An exposure on the wire: the entries that a task was given, or that were withheld.

All input from outside is checked here, once, whichever way it came.
"""

from typing import Annotated, Final

import msgspec

from trackrecord.errors import InvalidExposure
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName

from .outcome import MAX_BODY_BYTES
from .small_body import decoded, encoded, refuse_unstorable

MAX_ENTRIES: Final = 1000

ExposureId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Label = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class ExposureBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The entries that one task was given, or would have been given.

    Attributes are those of the wire format.
    """

    task_id: Label
    entries: tuple[Label, ...]
    project: ProjectName = DEFAULT_PROJECT
    exposure_id: ExposureId | None = None
    at: Annotated[float, msgspec.Meta(ge=0)] | None = None
    withheld: bool = False
    holdout: Share = 0.0
    propensity: Share = 1.0
    revision: Annotated[int, msgspec.Meta(ge=0, le=2**53)] = 0


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(ExposureBody)


def encode_exposure(exposure: ExposureBody) -> bytes:
    """Return the body of an exposure.

    Raises:
        InvalidExposure: it has a text that JSON cannot hold.
    """
    return encoded(_encoder, exposure, what="exposure", refusal=InvalidExposure)


def decode_exposure(body: bytes, *, max_bytes: int = MAX_BODY_BYTES) -> ExposureBody:
    """Decode and check one body.

    Raises:
        InvalidExposure: it is too large, not JSON, not an object, or a field is of the wrong type
            or range. The message never repeats the body's content.
    """
    exposure = decoded(
        _decoder, body, what="exposure", max_bytes=max_bytes, refusal=InvalidExposure
    )
    if len(exposure.entries) > MAX_ENTRIES:
        message = f"the exposure has {len(exposure.entries)} entries, {MAX_ENTRIES} are allowed"
        raise InvalidExposure(message)
    names = ("project", "exposure_id", "task_id", "entries")
    refuse_unstorable(exposure, names, refusal=InvalidExposure)
    return exposure
