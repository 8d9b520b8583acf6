"""A recall on the wire: memories that were recalled outside of any task.

All input from outside is checked here, once, whichever way it came.
"""

from typing import Annotated, Final

import msgspec

from trackrecord.errors import InvalidRecall
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName

from .small_body import SmallForm

MAX_MEMORIES: Final = 1000

MemoryId = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]


class RecallBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The recalled memories.

    Attributes are those of the wire format.
    """

    memories: tuple[MemoryId, ...]
    project: ProjectName = DEFAULT_PROJECT
    at: Annotated[float, msgspec.Meta(ge=0)] | None = None


_FORM: Final = SmallForm(
    RecallBody, "recall", InvalidRecall, "project memories", {"memories": MAX_MEMORIES}
)
encode_recall: Final = _FORM.encode
decode_recall: Final = _FORM.decode
