"""An exposure on the wire: the entries that a task was given, or that were withheld.

All input from outside is checked here, once, whichever way it came.
"""

from typing import Annotated, Final

import msgspec

from trackrecord.errors import InvalidExposure
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName

from .small_body import SmallForm

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


_FORM: Final = SmallForm(
    ExposureBody,
    "exposure",
    InvalidExposure,
    "project exposure_id task_id entries",
    {"entries": MAX_ENTRIES},
)
encode_exposure: Final = _FORM.encode
decode_exposure: Final = _FORM.decode
