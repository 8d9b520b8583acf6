"""A finding: what one kind of counting found, before it becomes a lesson."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ...competences.episodes.actors import AGENT
from .lesson import LessonKind

# How far each kind is trusted when lessons of several kinds are ranked.
TRUST: Final = {
    LessonKind.FAILS: 1.0,
    LessonKind.NEEDS_FIRST: 0.9,
    LessonKind.GOES_WITH_SUCCESS: 0.8,
    LessonKind.THEN_WORKS: 0.75,
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A fact and the runs that show it.

    Attributes:
        kind: what was counted.
        subject: what it is about; the lesson's id follows from it.
        tools: the tools it concerns.
        positions: the positions of the runs that show it, ascending.
        sure: the cautious end of its interval, 0..1.
        lines: the fact as one line, by language.
        wordless_lines: the same without the words of an error; empty where there are none in it.
        actor: who calls the first tool.
        example: the line that tells of an error, as it last was.
        calls: the calls that were looked at.
        failing_calls: those that failed.
        interval: of the share or the effect.
        effect: the difference it makes.
        is_over: whether it has stopped occurring.
        remedy: what to add to the line of the tool's failures, by language; None for nothing.
        also: the lines of findings that it stands for.
        says_what_to_do: whether the fact itself does; otherwise only a remedy can.
    """

    kind: LessonKind
    subject: tuple[str, ...]
    tools: tuple[str, ...]
    positions: Sequence[int]
    sure: float
    lines: dict[str, str]
    actor: str = AGENT
    example: str = ""
    calls: int = 0
    failing_calls: int = 0
    interval: tuple[float, float] | None = None
    effect: float | None = None
    is_over: bool = False
    remedy: dict[str, str] | None = None
    wordless_lines: dict[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    says_what_to_do: bool = True

    @property
    def has_way_out(self) -> bool:
        """Return whether it says what to do instead, or is told with what mends it."""
        return self.says_what_to_do or self.remedy is not None
