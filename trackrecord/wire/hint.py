"""A hint on the wire: what a failing call was told, or would have been told.

All input from outside is checked here, once, whichever way it came.
"""

from typing import Annotated, Final

import msgspec

from trackrecord.errors import InvalidHint
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName

from .small_body import SmallForm

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


_FORM: Final = SmallForm(
    HintBody,
    "hint",
    InvalidHint,
    "project hint_id session agent entry kind source key check tool text",
)
encode_hint: Final = _FORM.encode
decode_hint: Final = _FORM.decode
