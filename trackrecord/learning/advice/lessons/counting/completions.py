"""Completions: the call that ends a run, within tasks.

A run is compared with other runs of its task alone, by an exact test; all that is looked at is
tested together.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from ....numbers.percent import percent
from ....numbers.wilson import Z
from ..chance import Stratum, chance_of, discoveries
from ..finding import Finding
from ..history import History
from ..lesson import LessonKind
from ..rules import LessonRules
from ..wording import counted, named
from .goes_with import ENDING_SHARE, weighted_difference

_LEVEL: Final = 0.01
_MIN_RUNS: Final = 5
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
    # Of all others, `goes_with` tells whether runs that call them at all succeed more.
    return {
        history.callers[call].tool: runs
        for call, runs in ends.items()
        if len(runs) >= ENDING_SHARE * len(history.runs_with[call])
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
    effect, error, _ = weighted_difference(
        [(each.runs, each.labelled, each.successes, each.won) for each in strata]
    )
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
            f"{others}, in {counted(tasks, 'tasks')}",
            "zh": f"以 {name} 结束的运行比相同任务的其他运行成功率高至少 {at_least} 个百分点: "
            f"{with_it} 次中成功 {won} 次,其他 {others} 次中成功 {others_won} 次,"
            f"涉及 {tasks} 个任务",
        },
    )
