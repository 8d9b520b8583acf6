"""Feedback on one pattern, criterion or memory alone, on the wire.

All input from outside is checked here, once, whichever way it came.
"""

from collections.abc import Callable
from typing import Annotated, Final, Literal

import msgspec

from trackrecord.errors import InvalidFeedback
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName
from trackrecord.learning.text.slug import ANTI_PREFIX

from .outcome import Moment, TaskId, epoch_seconds
from .small_body import SmallForm

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
Label = Annotated[str, msgspec.Meta(max_length=256)]
Subject = Literal["pattern", "criterion", "memory"]
Verdict = Literal["harmful", "helpful", "neutral"]


class FeedbackBody(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on one pattern, criterion or memory.

    Attributes are those of the wire format.
    """

    verdict: Verdict
    pattern: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)] | None = None
    criterion: Name | None = None
    memory: Name | None = None
    feedback_id: Name | None = None
    task_id: TaskId | None = None
    source: Label | None = None
    timestamp: Moment | None = None
    project: ProjectName = DEFAULT_PROJECT

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.pattern, self.criterion, self.memory)) != 1:
            message = "feedback names exactly one of pattern, criterion and memory"
            raise ValueError(message)
        if self.criterion is not None and not self.criterion.strip():
            message = "the name of the criterion is blank"
            raise ValueError(message)
        if self.timestamp is not None:
            epoch_seconds(self.timestamp)

    def given_at(self, received_at: float) -> float:
        """Return when it was given; a time in the future becomes the time of receipt."""
        if self.timestamp is None:
            return received_at
        return min(epoch_seconds(self.timestamp), received_at)

    def subject(self, slug_of: Callable[[str], str | None]) -> tuple[Subject, str]:
        """Return the kind of the subject, and its name in the store.

        Args:
            slug_of: returns the identity of a pattern's name, None if the name has none.

        Raises:
            InvalidFeedback: the pattern's name holds neither a letter nor a digit.
        """
        if self.criterion is not None:
            return "criterion", self.criterion.strip()
        if self.memory is not None:
            return "memory", self.memory
        slug = _slug(self.pattern or "", slug_of)
        if slug is None:
            message = "the pattern's name holds neither a letter nor a digit"
            raise InvalidFeedback(message)
        return "pattern", slug


def _slug(name: str, slug_of: Callable[[str], str | None]) -> str | None:
    """Return a pattern's identity; that of an anti-pattern's pattern, if the id of one is given."""
    rest = name.removeprefix(ANTI_PREFIX)
    return rest if rest != name and slug_of(rest) == rest else slug_of(name)


decode_feedback: Final = SmallForm(
    FeedbackBody,
    "feedback",
    InvalidFeedback,
    "project feedback_id task_id source pattern criterion memory",
).decode
