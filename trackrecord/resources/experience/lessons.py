"""Lessons: what the calls of tools teach, the runs behind it, and dismissing what does not help."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

from trackrecord.learning.advice.lessons.lesson import Lesson, LessonKind, LessonState
from trackrecord.learning.advice.moments.commands import CommandState
from trackrecord.resources.access.project_store import Transaction, change_project, read_project
from trackrecord.resources.declaration.checks import (
    Choice,
    LessonId,
    Limit,
    Name,
    Reason,
    ToolName,
    checking,
    decided_by,
)
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from trackrecord.store.advice.lesson_decisions import LessonDecision


_Decided = TypeVar("_Decided", bound="LessonDecisionAnswer")
# From the least to the most trusted.
_STATES = (LessonState.FADED, LessonState.SEEN, LessonState.ESTABLISHED)


class LessonChange(Answer, frozen=True):
    """A decision about a lesson.

    Attributes:
        at: when it was taken.
        action: dismiss or restore.
        by: who decided.
        reason: why; "" without a reason.
    """

    at: Instant
    action: str
    by: str
    reason: str

    @classmethod
    def of(cls, stored: LessonDecision) -> Self:
        """Return a decision on record as an answer."""
        return cls(stored.at, stored.action.value, stored.actor, stored.reason)


class LessonAnswer(Answer, frozen=True, kw_only=True):
    """A lesson: one fact that was counted from the calls of a project's runs.

    Attributes:
        text: what it says, in English.
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
        effect: the difference that it makes, -1..1; null where nothing is compared.
        strength: what lessons are ranked by, 0..1: how sure, how trusted and how recent it is.
        last_seen: when the newest run behind it ended.
        wordless_lines: the fact without the words of an error, by language; empty where there are
            none in it.
        sources: the distinct agents that reported the runs behind it.
        is_of_one: whether all its runs are of one speaker while others speak, too: no prompt has
            it then.
        dismissed: whether somebody dismissed it: no prompt has it then, either.
    """

    text: str
    id: str
    kind: LessonKind
    state: LessonState
    tools: tuple[str, ...]
    actor: str
    example: str
    calls: int
    failing_calls: int
    runs: int
    successes: int
    without_verdict: int
    tasks: int
    interval: tuple[float, float] | None
    effect: float | None
    strength: float
    last_seen: Instant
    wordless_lines: dict[str, str]
    sources: int
    is_of_one: bool
    dismissed: bool
    _lesson: Lesson
    _agents: tuple[str, ...]
    _dismissal: LessonChange | None

    @classmethod
    def of(
        cls,
        lesson: Lesson,
        agents: tuple[str, ...],
        dismissal: LessonChange | None,
        **more: Any,  # noqa: ANN401 - a subclass's fields
    ) -> Self:
        """Return a lesson that was counted as an answer."""
        return cls.taken(
            lesson,
            text=lesson.lines["en"],
            dismissed=dismissal is not None,
            _lesson=lesson,
            _agents=agents,
            _dismissal=dismissal,
            **more,
        )

    @property
    def lesson(self) -> Lesson:
        """The lesson as it was counted."""
        return self._lesson

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of its newest runs, by name."""
        return self._agents

    @property
    def dismissal(self) -> LessonChange | None:
        """The decision by which it is dismissed; None if it is not."""
        return self._dismissal

    @property
    def state_in_words(self) -> str:
        """Its state in a word."""
        return "dismissed" if self.dismissed else self.state.value

    @property
    def trust(self) -> int:
        """The place of its state among all states, from the least trusted on."""
        return _STATES.index(self.state)

    @property
    def main_tool(self) -> str:
        """The tool that it is about."""
        return self.tools[0]


class LessonRunAnswer(Answer, frozen=True):
    """One run behind a lesson.

    Attributes:
        outcome_id: the id of its outcome.
        task_id: the task.
        ended_at: when it ended.
        success: whether the task reached its goal; null where nobody knows it.
    """

    outcome_id: str
    task_id: str
    ended_at: Instant
    success: bool | None


class LessonDetails(LessonAnswer, frozen=True, kw_only=True):
    """A lesson with the runs behind it and what was decided about it.

    Attributes:
        lines: the fact as one line, by language.
        also: the lines, in English, of the facts that the same runs tell.
        outcomes: its newest runs, the newest first.
        history: the decisions about it, the oldest first.
    """

    lines: dict[str, str]
    also: tuple[str, ...]
    outcomes: tuple[LessonRunAnswer, ...]
    history: tuple[LessonChange, ...]


class LessonDecisionAnswer(Answer, frozen=True):
    """A decision about a lesson, and whether it changed anything.

    Attributes:
        id: the lesson.
        action: what was decided.
        changed: whether that changed anything.
        by: who decided.
        reason: why; null without a reason.
    """

    id: str
    action: Literal["dismiss", "restore"]
    changed: bool
    by: str
    reason: str | None

    @property
    def in_words(self) -> str:
        """What became of the lesson."""
        if self.action == "dismiss":
            said = "dismissed" if self.changed else "was dismissed already"
        else:
            said = "restored" if self.changed else "was not dismissed"
        return f"{self.id}: {said}"


@checking
def lessons_of(
    it: Transaction,
    *,
    tool: ToolName | None = None,
    kind: Choice[LessonKind] | None = None,
    state: Choice[LessonState] | None = None,
    everything: bool = False,
    source: str | None = None,
    content: str | None = None,
) -> list[LessonAnswer]:
    """Return the lessons of a project, strongest first, in a transaction that is open.

    Args:
        it: a reading transaction.
        tool: only lessons that concern this tool.
        kind: only lessons of this kind.
        state: only lessons in this state.
        everything: whether faded and dismissed lessons are returned, too.
        source: only lessons of which this agent reported one of the newest runs.
        content: only lessons that hold this text, whatever its case.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRequest: an argument is wrong.
    """
    return [
        each
        for each in _all_lessons(it)
        if (everything or not (each.dismissed or _is_over(each, state)))
        and (tool is None or tool in each.tools)
        and (kind is None or kind == each.kind)
        and (state is None or state == each.state)
        and (source is None or source in each.agents)
        and (content is None or content.casefold() in each.text.casefold())
    ]


def _is_over(lesson: LessonAnswer, asked_for: str | None) -> bool:
    return lesson.state is LessonState.FADED and asked_for != LessonState.FADED


def _all_lessons(it: Transaction) -> list[LessonAnswer]:
    from trackrecord.store.advice.lesson_decisions import dismissed_lessons

    from .sourced_lessons import found_lessons

    decided = dismissed_lessons(it.connection, it.project_id)
    dismissed = {name: LessonChange.of(each) for name, each in decided.items()}
    found = found_lessons(it.connection, it.settings, it.project_id)
    return [
        LessonAnswer.of(each.lesson, each.sources, dismissed.get(each.lesson.id)) for each in found
    ]


def details_of(it: Transaction, lesson_id: str) -> LessonDetails:
    """Return a lesson with the runs behind it, in a transaction that is open.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such lesson, or had none at that moment.
        AmbiguousId: several lessons' ids begin so.
    """
    known = {each.id: each for each in _all_lessons(it)}
    shown = known[whole_id_of("lesson", lesson_id, known, it.project)]
    lesson = shown.lesson
    return LessonDetails.of(
        lesson,
        shown.agents,
        shown.dismissal,
        **behind(it, lesson.id, lesson.outcomes),
    )


def behind(it: Transaction, lesson_id: str, outcomes: Sequence[int]) -> dict[str, Any]:
    """Return the runs behind a lesson or a command, and the decisions about it, as its details."""
    from trackrecord.store.advice.lesson_decisions import lesson_history, runs_of_outcomes

    runs = runs_of_outcomes(it.connection, it.project_id, outcomes)
    decisions = lesson_history(it.connection, it.project_id, lesson_id)
    return {
        "outcomes": tuple(map(LessonRunAnswer.taken, runs)),
        "history": tuple(map(LessonChange.of, decisions)),
    }


def whole_id_of(noun: str, given: str, known: Collection[str], project: str) -> str:
    """Return the id of the lesson or the command of which a text is the id or the beginning.

    Args:
        noun: "lesson" or "command".
        given: the text.
        known: the ids that there are.
        project: whose they are.

    Raises:
        UnknownId: there is none.
        AmbiguousId: several ids begin so.
    """
    from trackrecord.resources.access.short_ids import matching, whole_id

    return whole_id(
        given,
        matching(given, known),
        f"project {project!r} has no {noun} {given!r}",
        hint=f"`trackrecord {noun}s list --everything` shows its {noun}s",
        near=lambda: known,
    )


def _everything_told(it: Transaction) -> Iterator[tuple[str, str]]:
    """Yield what agents and people are told of in a project: each id with words that they read."""
    from .found_commands import found_commands

    for each in _all_lessons(it):
        for line in (*each.lesson.lines.values(), *each.wordless_lines.values()):
            yield each.id, line
    for command in found_commands(it.connection, it.project_id):
        yield command.id, command.line
        # Of a failure it is the line that runs, and a fact of its own.
        if command.state in (CommandState.NEEDS, CommandState.OPENED):
            yield command.id, command.instead


def decide_told(
    noun: str,
    answer: type[_Decided],
    action: Literal["dismiss", "restore"],
    given_id: str,
    reason: str | None,
    by: str | None,
    project: str | None,
) -> _Decided:
    """Dismiss or restore what an id, the beginning of one, or the words told stand for.

    No agent is told of what is dismissed.

    Args:
        noun: "lesson" or "command".
        answer: the class of the answer.
        action: what is decided.
        given_id: the id, its beginning, or the words.
        reason: the reason; the history keeps it.
        by: who decides; this process's user when not given.
        project: whose it is; the settings' project when not given.
    """
    actor, given_reason = decided_by(by, reason)
    with change_project(project) as it:
        from trackrecord.store.advice.lesson_decisions import (
            LessonAction,
            LessonDecision,
            decide_lesson,
            dismissed_lessons,
        )

        told = list(_everything_told(it))
        # One line may be known as one that fails on several machines, or without another: agents
        # read the same of each. What a lesson is about stands first in it, in backquotes.
        begin = f"`{given_id}` "
        ids = [known for known, words in told if words == given_id or words.startswith(begin)]
        if not ids:
            # What is dismissed may not be found any more, and can be restored all the same.
            known = [*dismissed_lessons(it.connection, it.project_id), *dict(told)]
            first, own = whole_id_of(noun, given_id, known, it.project), dict(reversed(told))
            ids = [first, *(each for each, words in own.items() if words == own.get(first))]
        now, why = time.time(), given_reason or ""
        changed = [
            decide_lesson(
                it.connection,
                it.project_id,
                LessonDecision(each, LessonAction(action), actor, why, now),
            )
            for each in dict.fromkeys(ids)
        ]
    return answer(ids[0], action, any(changed), actor, given_reason)


def _with_example(lesson: LessonAnswer) -> str:
    """Return what a lesson says, with the line that tells of its error unless it repeats that."""
    said, example = lesson.text, lesson.example
    return said if not example or example.rstrip(".") in said else f"{said} ({example})"


DECIDES: Final[dict[str, Any]] = {
    "permission": "admin", "in_words": lambda decided: decided.in_words,
}  # fmt: skip
LESSONS = Resource(
    "lessons",
    "Show what tool calls teach, and dismiss what does not help.\n\n"
    "Without a command: the page that an import of sessions ends with, of this project or of all.",
)


@LESSONS.offers(
    "GET /lessons",
    command="list",
    sorting=sorting_of(
        "lessons", "id", id="id", name="text", kind="kind", state="trust", tool="main_tool",
        strength="strength", effect="effect", tasks="tasks", runs="runs", calls="calls",
        last_seen="last_seen",
    ),
    rank=lambda lesson: (lesson.state is LessonState.FADED, -lesson.strength),
    in_pages=True,
    columns=("id", "state", "kind", "tasks", "lesson"),
    about="lesson",
    secondary=("tasks", "kind", "state"),
    cells={"state": lambda lesson: lesson.state_in_words, "lesson": _with_example},
    nothing="no lessons to show in project {project!r}",
    option_help={"everything": "Show faded and dismissed lessons, too."},
)  # fmt: skip
def list_lessons(
    *,
    tool: ToolName | None = None,
    kind: Choice[LessonKind] | None = None,
    state: Choice[LessonState] | None = None,
    everything: bool = False,
    limit: Limit | None = None,
    project: str | None = None,
) -> list[LessonAnswer]:
    """List the lessons, strongest first. `show` also names the runs behind a lesson.

    Args:
        tool: only lessons that concern this tool.
        kind: only lessons of this kind.
        state: only lessons in this state.
        everything: whether faded and dismissed lessons are returned, too.
        limit: the maximum number of lessons to return; all when not given.
        project: the lessons' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return lessons_of(it, tool=tool, kind=kind, state=state, everything=everything)[:limit]


@LESSONS.offers("GET /lessons/{lesson_id}", command="show")
def show_lesson(lesson_id: LessonId, *, project: str | None = None) -> LessonDetails:
    """Show one lesson: its counts, the newest runs behind it, decisions about it.

    Args:
        lesson_id: the lesson's id, or the beginning of it.
        project: the lesson's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return details_of(it, lesson_id)


@LESSONS.offers("POST /lessons/{lesson_id}/dismiss", command="dismiss", **DECIDES)
def dismiss_lesson(
    lesson_id: LessonId,
    *,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> LessonDecisionAnswer:
    """Dismiss a lesson for good: no prompt shows it until it is restored.

    Args:
        lesson_id: its id, the beginning of it, or the line or the file that agents are told of.
        reason: the reason; the history keeps it.
        by: who decides; this process's user when not given.
        project: the lesson's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return decide_told("lesson", LessonDecisionAnswer, "dismiss", lesson_id, reason, by, project)


@LESSONS.offers("POST /lessons/{lesson_id}/restore", command="restore", **DECIDES)
def restore_lesson(
    lesson_id: LessonId,
    *,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> LessonDecisionAnswer:
    """Take back the dismissal of a lesson.

    Args:
        lesson_id: its id, the beginning of it, or the line or the file that agents are told of.
        reason: the reason; the history keeps it.
        by: who decides; this process's user when not given.
        project: the lesson's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return decide_told("lesson", LessonDecisionAnswer, "restore", lesson_id, reason, by, project)
