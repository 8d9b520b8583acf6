"""A lesson: one fact that was counted from the calls of a project's runs; before, a finding."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Final

import msgspec

from ...competences.episodes.actors import AGENT

_ID_BYTES = 10


class LessonKind(StrEnum):
    """The kinds of lessons, the most trusted first."""

    FAILS = "fails"
    NEEDS_FIRST = "needs-first"
    GOES_WITH_SUCCESS = "goes-with-success"
    THEN_WORKS = "then-works"


class LessonState(StrEnum):
    """The states of a lesson."""

    SEEN = "seen"
    ESTABLISHED = "established"
    FADED = "faded"


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """One fact, and the runs that it was counted from.

    Attributes:
        id: follows from the kind and what the lesson is about, whatever the counts.
        kind: what was counted.
        state: seen, established once enough tasks show it, faded when it has stopped occurring.
        tools: the tools it concerns; the first one is what it is about.
        actor: who calls that tool: "agent", "user" or the name of another agent.
        example: the line that tells of its newest error, which may name what only that task had:
            for people of the project, not for prompts; "" without one.
        calls: the calls that were looked at.
        failing_calls: those of them that failed.
        runs: the runs behind it.
        successes: those of them that reached their goal.
        without_verdict: those of which nobody knows whether they did.
        tasks: the distinct tasks of these runs.
        interval: the 95% interval of the share or the effect, counted over tasks.
        effect: the difference that it makes, -1..1; None where nothing is compared.
        strength: what lessons are ranked by, 0..1: how sure, how trusted and how recent it is.
        last_seen: when the newest run behind it ended, seconds since the epoch.
        outcomes: the rows of the outcomes of its newest runs, the newest first.
        lines: the fact as one line, by language.
        wordless_lines: the same without the words of an error; empty where there are none in it.
        sources: the distinct agents that reported the runs behind it.
        only_source: the agent that reported all of them; "" if there are several.
        also: the lines, in English, of the facts that the same runs tell.
        has_way_out: whether it says what to do instead, and not only what goes wrong.
        is_of_one: whether all its runs are of one speaker while others call its tool, too: no
            prompt has it then.
    """

    id: str
    kind: LessonKind
    state: LessonState
    tools: tuple[str, ...]
    actor: str = AGENT
    example: str = ""
    calls: int = 0
    failing_calls: int = 0
    runs: int
    successes: int
    without_verdict: int = 0
    tasks: int
    interval: tuple[float, float] | None = None
    effect: float | None = None
    strength: float
    last_seen: float
    outcomes: tuple[int, ...]
    lines: dict[str, str]
    wordless_lines: dict[str, str] = {}
    sources: int = 1
    only_source: str = ""
    also: tuple[str, ...] = ()
    has_way_out: bool = False
    is_of_one: bool = False


def lesson_id(kind: LessonKind, subject: tuple[str, ...]) -> str:
    """Return the id of the lesson of a kind about a subject: 20 hexadecimal digits."""
    said = msgspec.json.encode((kind, subject))
    return blake2b(said, digest_size=_ID_BYTES).hexdigest()


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
