"""The history of a project: its runs in order, their calls as numbers, and who made them.

A span in it says from when to when something occurred, how often, and whether it stopped.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Final, NamedTuple

from msgspec.structs import replace

from ...competences.episodes.actors import AGENT
from ...competences.episodes.checks import CHECKS, is_check
from ...text.words import words_of
from ..runs.attempts import TaskAttempt, attempts_of
from ..runs.failures import names_its_remedy
from ..runs.runs import NotedRun, Run, RunStep, with_verdict
from .chance import share_interval

# Whoever checks a balance or validates an address asks for a fact, and is to get it.
_RUNS_CODE: Final = CHECKS - {
    "check", "checks", "checker", "verify", "verification", "validate", "validation",
    "检查", "校验", "验证",
}  # fmt: skip


class ToolCaller(NamedTuple):
    """A tool and who calls it: the same tool called by a user is another thing."""

    tool: str
    actor: str

    @property
    def is_agent(self) -> bool:
        """Return whether the caller is the agent itself."""
        return self.actor == AGENT


@dataclass(frozen=True)
class History:
    """The runs of a project, the oldest first, each once.

    A check that failed and passed later in the run did its work: that call has not failed.

    A run without a verdict tells what its calls tell; what compares successes with failures counts
    `judged` alone.

    Attributes:
        runs: the runs.
        tasks: the number of each run's task.
        calls: for each run the numbers of its calls' callers, in order.
        callers: each caller at its number.
        counts: how many calls each caller made.
        runs_with: the positions of the runs in which a caller made a call.
    """

    runs: tuple[NotedRun, ...]
    tasks: list[int]
    calls: list[list[int]]
    callers: list[ToolCaller]
    counts: Counter[int]
    runs_with: dict[int, list[int]]

    @cached_property
    def failed_calls(self) -> list[tuple[int, int, int]]:
        """The position of the run, the place in it, and the caller of each call that failed."""
        return [
            (position, place, self.calls[position][place])
            for position, run in enumerate(self.runs)
            for place, step in enumerate(run.steps)
            if step.error is not None
        ]

    @cached_property
    def failures(self) -> Counter[int]:
        """Return how many calls of each caller failed."""
        return Counter(caller for _, _, caller in self.failed_calls)

    @cached_property
    def successes(self) -> list[bool]:
        """Return whether each run reached its goal, as far as known."""
        return [bool(run.success) for run in self.runs]

    @cached_property
    def decided_by(self) -> frozenset[str]:
        """Return the tools whose results verdicts rest on: they cannot explain verdicts."""
        return frozenset(tool for run in self.runs for tool in run.decided_by)

    @cached_property
    def judged(self) -> "History":
        """The history of the runs with a verdict alone, to compare how they ended.

        Without the calls of tools that verdicts rest on. Itself where all runs have a verdict and
        there are no such tools.
        """
        runs = with_verdict(self.runs)
        if not self.decided_by:
            return self if len(runs) == len(self.runs) else history_of(runs)
        return history_of([_without(run, self.decided_by) for run in runs])

    @cached_property
    def judged_positions(self) -> list[int]:
        """The positions of the runs with a verdict, at their positions in `judged`."""
        return [position for position, run in enumerate(self.runs) if run.success is not None]

    @cached_property
    def attempts(self) -> list[TaskAttempt]:
        """Return the place of each run among those of its task; every run must have a verdict."""
        found = attempts_of(with_verdict(self.runs))
        return [found[run.outcome] for run in self.runs]

    @cached_property
    def within(self) -> list[int | None]:
        """Return the task of each run that has others to compare with; None for the rest."""
        pairs = zip(self.tasks, self.attempts, strict=True)
        return [None if attempt.task is None else task for task, attempt in pairs]

    def tasks_of(self, positions: Iterable[int]) -> set[int]:
        """Return the tasks of some runs."""
        tasks = self.tasks
        return {tasks[position] for position in positions}

    def is_agents(self, caller: int) -> bool:
        """Return whether a caller is the agent itself."""
        return self.callers[caller].is_agent


def history_of(runs: Sequence[NotedRun]) -> History:
    """Return the history of runs; their order and duplicates do not matter."""
    unique = {run.outcome: run for run in runs}.values()
    ordered = sorted(map(_without_explained, map(_without_mended_checks, unique)), key=_moment)
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    callers: defaultdict[tuple[str, str], int] = defaultdict(count().__next__)
    tasks = [numbers[run.task_id] for run in ordered]
    calls = [[callers[step.tool, step.actor] for step in run.steps] for run in ordered]
    counts: Counter[int] = Counter()
    runs_with: dict[int, list[int]] = {number: [] for number in callers.values()}
    for position, made in enumerate(calls):
        counts.update(made)
        for caller in set(made):
            runs_with[caller].append(position)
    named = [ToolCaller(*caller) for caller in callers]
    return History(tuple(ordered), tasks, calls, named, counts, runs_with)


def may_fail(tool: str) -> bool:
    """Return whether a tool is there to fail at times: it runs tests, a linter or a build."""
    return is_check(tool) and bool(words_of(tool) & _RUNS_CODE)


def _without(run: Run, tools: frozenset[str]) -> Run:
    steps = tuple(step for step in run.steps if step.tool not in tools)
    return run if len(steps) == len(run.steps) else replace(run, steps=steps)


def _without_mended_checks(run: NotedRun) -> NotedRun:
    """Return a run in which a check has not failed that found something and passed later."""
    last = {
        (step.tool, step.actor): place for place, step in enumerate(run.steps) if not step.failed
    }
    mended = {
        place
        for place, step in enumerate(run.steps)
        if step.error is not None
        and place < last.get((step.tool, step.actor), 0)
        and may_fail(step.tool)
        and not step.is_stuck
    }
    if not mended:
        return run
    steps = enumerate(run.steps)
    return replace(
        run, steps=tuple(_passed(step) if place in mended else step for place, step in steps)
    )


def _without_explained(run: NotedRun) -> NotedRun:
    """Return a run without the failures of which the agent's own tool says what to do."""
    if not any(step.error and names_its_remedy(step.error) for step in run.steps):
        return run
    return replace(
        run,
        steps=tuple(
            step for step in run.steps if not (step.error and names_its_remedy(step.error))
        ),
    )


def _passed(step: RunStep) -> RunStep:
    return replace(step, error=None, error_line="")


def _moment(run: NotedRun) -> tuple[float, int]:
    return run.ended_at, run.outcome


# A silence that chance would explain this rarely is an end.
_HARDLY: Final = 0.01
_FEWEST_SINCE: Final = 3


@dataclass(frozen=True)
class OccurrenceSpan:
    """The number of occurrences, and the days of the first and the last.

    What broke yesterday is counted from then on, and what was mended last month up to then:
    all other tasks tell nothing of it.

    Attributes:
        interval: of its share of the tasks that could show it.
        is_over: whether it has stopped: in too many tasks since then it could have occurred.
    """

    interval: tuple[float, float]
    is_over: bool


def span_of(history: History, chances: Sequence[int], seen: Sequence[int]) -> OccurrenceSpan:
    """Return the span of something that occurs in runs of some sources, among their runs.

    Args:
        history: the runs.
        chances: the positions of the runs in which it could have occurred, ascending.
        seen: those in which it did, ascending.
    """
    # Another agent that never shows it is not another time.
    sources = {history.runs[position].source for position in seen}
    chances = [position for position in chances if history.runs[position].source in sources]
    first, last = seen[0], seen[-1]
    within = [position for position in chances if first <= position <= last]
    since = history.tasks_of(position for position in chances if position > last)
    # By run, because most tasks since then have had one run so far.
    silence = (1 - len(seen) / len(within)) ** len(since)
    return OccurrenceSpan(
        share_interval(len(history.tasks_of(seen)), len(history.tasks_of(within))),
        len(since) >= _FEWEST_SINCE and silence <= _HARDLY,
    )
