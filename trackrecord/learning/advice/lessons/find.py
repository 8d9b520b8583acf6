"""Find the lessons of a project: count each kind, merge findings of one fact, rank, and bound.

A new kind is a module in `counting`, a value of `LessonKind` in `lesson`, its trust beside it, a
row here, and its words on the page (`_KINDS` in `page/views/lessons`).

What then works, or must come first, is told with the failure that it mends. The calls that end runs
are compared within each task alone, by an exact test; all that is looked at is tested together.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import fsum
from typing import Final, NamedTuple

from ...numbers.decay import decayed
from ...numbers.percent import percent
from ...numbers.speakers import tells_alone
from ...numbers.wilson import Z
from ...text.numerals import counted
from ..runs.runs import NotedRun
from .chance import Stratum, chance_of, discoveries, weighted_difference
from .counting.fails import find_failures
from .counting.needs import find_needs
from .counting.then_works import find_remedies
from .history import History, history_of
from .lesson import TRUST, Finding, Lesson, LessonKind, LessonState, lesson_id
from .rules import LessonRules
from .wording import named

_LEVEL: Final = 0.01
_MIN_RUNS: Final = 5
# A call ends runs if this share of its runs ends with it.
_ENDING_SHARE: Final = 0.8
_MIN_TASKS: Final = 3


class _Compared(NamedTuple):
    """The runs of tasks that have both runs that did it and runs that did not."""

    positions: list[int]
    strata: list[Stratum]


def find_completions(history: History, _rules: LessonRules) -> Iterator[Finding]:
    """Yield the endings with which runs succeed more within a task."""
    tested = [
        (tool, compared)
        for tool, done in sorted(_completions(history).items())
        if (compared := _compared(history, done)) is not None
    ]
    chances = [chance_of(compared.strata) for _, compared in tested]
    for place in discoveries(chances, level=_LEVEL, tests=max(1, len(tested))):
        finding = _finding(*tested[place])
        if finding.sure > 0:
            yield finding


def _completions(history: History) -> dict[str, set[int]]:
    """Return the runs that ended with each tool that mostly ends a run."""
    ends: defaultdict[int, set[int]] = defaultdict(set)
    for position, run in enumerate(history.runs):
        calls = history.calls[position]
        last = next((call for call in reversed(calls) if history.is_agents(call)), None)
        if last is not None and not run.steps[-1].failed:
            ends[last].add(position)
    return {
        history.callers[call].tool: runs
        for call, runs in ends.items()
        if len(runs) >= _ENDING_SHARE * len(history.runs_with[call])
    }


def _compared(history: History, done: set[int]) -> _Compared | None:
    """Return the runs to compare within their tasks; None for too few."""
    rows: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for position in range(len(history.runs)):
        if (task := history.within[position]) is not None:
            row, won, is_done = rows[task], history.successes[position], position in done
            row[0] += 1
            row[1] += won
            row[2] += is_done
            row[3] += won and is_done
    both = {task: Stratum(*row) for task, row in sorted(rows.items()) if 0 < row[2] < row[0]}
    with_it = sum(each.labelled for each in both.values())
    others = sum(each.runs for each in both.values()) - with_it
    if len(both) < _MIN_TASKS or with_it < _MIN_RUNS or others < _MIN_RUNS:
        return None
    positions = sorted(each for each in done if history.within[each] in both)
    return _Compared(positions, list(both.values()))


def _finding(tool: str, compared: _Compared) -> Finding:
    strata = compared.strata
    effect, error = weighted_difference(strata)
    low = max(0.0, effect - Z * error)
    won, with_it = sum(each.won for each in strata), sum(each.labelled for each in strata)
    others_won = sum(each.successes for each in strata) - won
    others = sum(each.runs for each in strata) - with_it
    name = named(tool)
    at_least, tasks = percent(low, 1), len(strata)
    return Finding(
        kind=LessonKind.GOES_WITH_SUCCESS,
        # As of the lessons that people may have dismissed.
        subject=("to the end", tool, "", ""),
        tools=(tool,),
        positions=compared.positions,
        calls=with_it,
        interval=(low, min(1.0, effect + Z * error)),
        effect=effect,
        sure=low,
        lines={
            "en": f"runs that end with {name} succeeded more often than other runs of the same "
            f"tasks, by at least {at_least} points: {won} of {with_it} against {others_won} of "
            f"{others}, in {counted(tasks, 'task')}",
            "zh": f"以 {name} 结束的运行比相同任务的其他运行成功率高至少 {at_least} 个百分点: "
            f"{with_it} 次中成功 {won} 次,其他 {others} 次中成功 {others_won} 次,"
            f"涉及 {tasks} 个任务",
        },
    )


def with_remedies(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings with each remedy in the line of the failure that it mends.

    A remedy of which no failure is known is told by itself.

    Args:
        findings: the strongest of any two comes first.
    """
    failures: dict[tuple[str, str], int] = {}
    kept = list(findings)
    for place, each in enumerate(kept):
        # Of several errors of a tool, the one of most calls.
        known = failures.get((each.tools[0], each.actor))
        if each.kind is LessonKind.FAILS and (
            known is None or kept[known].failing_calls < each.failing_calls
        ):
            failures[each.tools[0], each.actor] = place
    told = set()
    for place, each in sorted(enumerate(findings), key=lambda numbered: _is_exception(numbered[1])):
        failure = failures.get((each.tools[0], each.actor))
        if failure is not None and _mends(each, kept[failure]):
            kept[failure] = _told_with(kept[failure], each)
            told.add(place)
    return [each for place, each in enumerate(kept) if place not in told]


def _is_exception(finding: Finding) -> bool:
    """Return whether a tool at times works without what it needs: trying again is told before."""
    return finding.kind is LessonKind.NEEDS_FIRST and (finding.effect or 0.0) < _NEARLY_ALWAYS


def _mends(finding: Finding, failure: Finding) -> bool:
    """Return whether a finding says what works after a tool's failure, or instead of it."""
    if finding.kind is LessonKind.NEEDS_FIRST:
        # Other failures of the tool have other causes.
        is_its = 2 * failure.failing_calls >= finding.failing_calls and not finding.is_over
        return is_its and failure.remedy is None
    return finding.kind is LessonKind.THEN_WORKS


def _told_with(failure: Finding, mended: Finding) -> Finding:
    if failure.remedy is not None:  # the better one stands in the line
        return replace(failure, also=(*failure.also, mended.lines["en"]))
    assert mended.remedy is not None  # noqa: S101 - every finding of what then works has one
    remedy = mended.remedy
    lines, wordless = (
        {language: f"{line}; {remedy[language]}" for language, line in lines.items()}
        for lines in (failure.lines, failure.wordless_lines)
    )
    tools = tuple(dict.fromkeys((*failure.tools, *mended.tools)))
    return replace(failure, lines=lines, wordless_lines=wordless, tools=tools, remedy=remedy)


Counting = Callable[[History, LessonRules], Iterator[Finding]]

# The fields of a lesson that are those of its finding.
_OF_FINDING: Final = (
    "kind", "tools", "actor", "example", "calls", "failing_calls", "interval", "effect", "lines",
    "wordless_lines", "also", "has_way_out",
)  # fmt: skip
# A lesson names the newest ones.
_MAX_RUNS_SHOWN: Final = 20


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
    find_needs,
    among_judged(find_completions),
    find_remedies,
)
_ORDER: Final = {kind: place for place, kind in enumerate(LessonKind)}
# With what it needs a tool works, and without it does not, in so many more of its calls.
_NEARLY_ALWAYS: Final = 0.9
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
    # More are found than are kept.
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
    kept = with_remedies([each for _, each in sorted(ranked, key=_by_trust)])
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
    sources = {run.source for run in newest}
    return Lesson(
        id=lesson_id(finding.kind, finding.subject),
        state=_state(finding, rules, tasks, weight),
        runs=len(newest),
        successes=sum(run.success is True for run in newest),
        without_verdict=sum(run.success is None for run in newest),
        tasks=tasks,
        strength=strength,
        last_seen=newest[0].ended_at,
        outcomes=tuple(run.outcome for run in newest[:_MAX_RUNS_SHOWN]),
        sources=len(sources),
        only_source=newest[0].source if len(sources) == 1 else "",
        is_of_one=tells_alone({run.speaker for run in newest}, callers),
        **{name: getattr(finding, name) for name in _OF_FINDING},
    )


def _state(finding: Finding, rules: LessonRules, tasks: int, weight: float) -> LessonState:
    if finding.is_over or weight < _LEAST_TASKS:
        return LessonState.FADED
    return LessonState.ESTABLISHED if tasks >= rules.established_tasks else LessonState.SEEN
