"""Find the lessons of a project: count each kind, merge duplicates, rank, and bound.

A new kind is a module in `counting`, a value of `LessonKind` in `lesson`, its trust in `finding`, a
row here, and its words on the page (`_KINDS` in `page/views/lessons`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import fsum
from typing import Final

from ...numbers.decay import decayed
from ...numbers.speakers import tells_alone
from ..runs.runs import NotedRun
from .counting.completions import find_completions
from .counting.fails import find_failures
from .counting.goes_with import find_within_tasks
from .counting.needs import find_needs
from .counting.never import find_failing_ways
from .counting.then_works import find_remedies
from .finding import TRUST, Finding
from .history import History, history_of
from .lesson import Lesson, LessonKind, LessonState, lesson_id
from .merge import merged, with_remedies
from .rules import LessonRules

Counting = Callable[[History, LessonRules], Iterator[Finding]]


def among_judged(find: Counting) -> Counting:
    """Return the same counting, done as if the runs without a verdict had not been."""

    def find_among_judged(history: History, rules: LessonRules) -> Iterator[Finding]:
        if history.judged is history:
            yield from find(history, rules)
            return
        place = history.judged_positions
        for finding in find(history.judged, rules):
            yield replace(finding, positions=[place[each] for each in finding.positions])

    return find_among_judged


# In the order of trust.
_KINDS: Final[tuple[Counting, ...]] = (
    find_failures,
    among_judged(find_failing_ways),
    find_needs,
    among_judged(find_within_tasks),
    among_judged(find_completions),
    find_remedies,
)
_ORDER: Final = {kind: place for place, kind in enumerate(LessonKind)}
# What hits fewer than one task in twenty, or makes less of a difference, is not worth a line.
_WORTH_A_LINE: Final = 0.05
# So many decayed tasks make half of a lesson's full strength.
_HALF_STRENGTH: Final = 2.0
# A lesson whose tasks have aged to less than one counts no more.
_LEAST_TASKS: Final = 1.0


def find_lessons(runs: Sequence[NotedRun], rules: LessonRules, *, now: float) -> tuple[Lesson, ...]:
    """Return the lessons of a project, the strongest first.

    They follow from the set of runs, not from their order, and a run that is given twice counts
    once.

    Args:
        runs: runs of one project.
        rules: what makes a lesson.
        now: the moment as of which runs have aged, seconds since the epoch.
    """
    history = history_of(runs)
    # More are found than are kept; beyond this many merging would take too long.
    most = 4 * rules.max_lessons
    ranked: list[tuple[float, Finding]] = []
    for find in _KINDS:
        found = [
            (_weight(history, each, rules, now), each)
            for each in find(history, rules)
            if each.sure >= _WORTH_A_LINE
        ]
        ranked += sorted(found, key=_by_weight)[:most]
    weights = {(each.kind, each.subject): weight for weight, each in ranked}
    told = with_remedies([each for _, each in sorted(ranked, key=_by_trust)])
    kept = merged(told)
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for run in history.runs:
        for step in run.steps:
            callers[step.tool].add(run.speaker)
    lessons = [
        _lesson(history, each, rules, weights[each.kind, each.subject], callers[each.tools[0]])
        for each in kept
    ]
    return tuple(sorted(lessons, key=_by_strength)[: rules.max_lessons])


def _by_weight(ranked: tuple[float, Finding]) -> tuple[float, tuple[str, ...]]:
    return -ranked[0] * ranked[1].sure, ranked[1].subject


def _by_trust(ranked: tuple[float, Finding]) -> tuple[bool, int, float, int, tuple[str, ...]]:
    weight, each = ranked
    # What still happens is not hidden behind what has stopped; of equals, the one that says it with
    # the fewest tools.
    return each.is_over, _ORDER[each.kind], -weight * each.sure, len(each.tools), each.subject


def _by_strength(lesson: Lesson) -> tuple[bool, float, str]:
    return lesson.state is LessonState.FADED, -lesson.strength, lesson.id


def _weight(history: History, finding: Finding, rules: LessonRules, now: float) -> float:
    """Return the decayed number of tasks behind a finding; each counts by its newest run."""
    newest = {history.tasks[each]: history.runs[each].ended_at for each in finding.positions}
    return fsum(decayed(1.0, now - at, rules.half_life_days) for at in newest.values())


def _lesson(
    history: History, finding: Finding, rules: LessonRules, weight: float, callers: set[str]
) -> Lesson:
    newest = [history.runs[each] for each in reversed(finding.positions)]
    tasks = len(history.tasks_of(finding.positions))
    strength = TRUST[finding.kind] * finding.sure * weight / (weight + _HALF_STRENGTH)
    return Lesson(
        id=lesson_id(finding.kind, finding.subject),
        kind=finding.kind,
        state=_state(finding, rules, tasks, weight),
        tools=finding.tools,
        actor=finding.actor,
        example=finding.example,
        calls=finding.calls,
        failing_calls=finding.failing_calls,
        runs=len(newest),
        successes=sum(run.success is True for run in newest),
        without_verdict=sum(run.success is None for run in newest),
        tasks=tasks,
        interval=finding.interval,
        effect=finding.effect,
        strength=strength,
        last_seen=newest[0].ended_at,
        outcomes=tuple(run.outcome for run in newest[: rules.max_runs_shown]),
        lines=finding.lines,
        wordless_lines=finding.wordless_lines,
        sources=len({run.source for run in newest}),
        only_source=newest[0].source if len({run.source for run in newest}) == 1 else "",
        also=finding.also,
        has_way_out=finding.has_way_out,
        is_of_one=tells_alone({run.speaker for run in newest}, callers),
    )


def _state(finding: Finding, rules: LessonRules, tasks: int, weight: float) -> LessonState:
    if finding.is_over or weight < _LEAST_TASKS:
        return LessonState.FADED
    return LessonState.ESTABLISHED if tasks >= rules.established_tasks else LessonState.SEEN
