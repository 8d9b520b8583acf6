"""The flow of a procedure: in which orders its runs called the tools, and where calls failed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from .actors import USER

# Stands for all tools beyond the most used ones; no tool's name is empty.
OTHERS: Final = ""
MOST_TOOLS: Final = 15


class FlowCall(Protocol):
    """One call of a tool."""

    @property
    def tool(self) -> str:
        """The tool's name."""

    @property
    def failed(self) -> bool:
        """Return whether the call failed."""

    @property
    def actor(self) -> str:
        """The one who made the call."""


class FlowRun(Protocol):
    """One run with a verdict."""

    @property
    def steps(self) -> Sequence[FlowCall]:
        """Its calls in their order."""

    @property
    def success(self) -> bool:
        """Return whether the task reached its goal."""


@dataclass(frozen=True)
class FlowStep:
    """One tool of a procedure.

    Attributes:
        tool: its name; `OTHERS` for all tools beyond the most used ones.
        runs: the runs that called it.
        calls: how often they called it.
        failed: how many of these calls failed.
        ends: the runs whose last call it was.
        ends_failed: those of them that did not reach their goal.
    """

    tool: str
    runs: int
    calls: int
    failed: int
    ends: int
    ends_failed: int

    @property
    def failed_share(self) -> float:
        """The share of its calls that failed."""
        return self.failed / self.calls


@dataclass(frozen=True)
class FlowMove:
    """One tool called directly after another.

    Attributes:
        origin: the tool before; None where a run began.
        target: the tool after; None where a run ended.
        times: how often.
        runs: in how many runs.
        succeeded: how many of these runs reached their goal.
    """

    origin: str | None
    target: str | None
    times: int
    runs: int
    succeeded: int


@dataclass(frozen=True)
class ProcedureFlow:
    """The course of a procedure's runs: its calls and their results.

    Attributes:
        runs: the runs that were counted.
        succeeded: those of them that reached their goal.
        steps: the tools, the one that is usually called first before the others.
        moves: from tool to tool, the most frequent first.
        folded: how many tools stand behind `OTHERS`.
    """

    runs: int = 0
    succeeded: int = 0
    steps: tuple[FlowStep, ...] = ()
    moves: tuple[FlowMove, ...] = ()
    folded: int = 0


def flow_of(runs: Iterable[FlowRun], *, most_tools: int = MOST_TOOLS) -> ProcedureFlow:
    """Count how runs went from tool to tool.

    Calls of the user are not a part of what the agent does. A run without a call is not counted.

    Args:
        runs: the runs of one procedure, in any order.
        most_tools: how many tools are told apart; the others are counted as one.
    """
    known = [(run, calls) for run in runs if (calls := _agents(run.steps))]
    used = Counter(call.tool for _, calls in known for call in calls)
    kept = sorted(used, key=lambda tool: (-used[tool], tool))
    # One place is of use for the rest only if it stands for more than one tool.
    kept = kept if len(kept) <= most_tools else kept[: most_tools - 1]
    named = {tool: tool if tool in set(kept) else OTHERS for tool in used}
    counts = _Counts()
    for run, calls in known:
        counts.add([(named[call.tool], call.failed) for call in calls], success=run.success)
    return ProcedureFlow(
        runs=len(known),
        succeeded=sum(run.success for run, _ in known),
        steps=counts.steps(),
        moves=counts.moves(),
        folded=len(used) - len(kept),
    )


def _agents(calls: Iterable[FlowCall]) -> list[FlowCall]:
    return [call for call in calls if call.tool and call.actor != USER]


class _Counts:
    """Running counts over runs."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._runs: Counter[str] = Counter()
        self._ends: Counter[tuple[str, bool]] = Counter()
        # Where each tool was called first in a run, as a share of the run's calls.
        self._places: defaultdict[str, float] = defaultdict(float)
        self._times: Counter[tuple[str | None, str | None]] = Counter()
        self._in_runs: Counter[tuple[tuple[str | None, str | None], bool]] = Counter()

    def add(self, calls: Sequence[tuple[str, bool]], *, success: bool) -> None:
        """Count one run, which has at least one call."""
        tools = [tool for tool, _ in calls]
        self._calls.update(tools)
        self._failed.update(tool for tool, failed in calls if failed)
        self._ends[tools[-1], success] += 1
        for tool in set(tools):
            self._runs[tool] += 1
            self._places[tool] += tools.index(tool) / len(tools)
        moves = list(zip((None, *tools), (*tools, None), strict=True))
        self._times.update(moves)
        self._in_runs.update((move, success) for move in set(moves))

    def steps(self) -> tuple[FlowStep, ...]:
        found = [
            FlowStep(
                tool,
                self._runs[tool],
                calls,
                self._failed[tool],
                self._ends[tool, True] + self._ends[tool, False],
                self._ends[tool, False],
            )
            for tool, calls in self._calls.items()
        ]
        found.sort(key=lambda step: (self._places[step.tool] / step.runs, step.tool))
        return tuple(found)

    def moves(self) -> tuple[FlowMove, ...]:
        found = [
            FlowMove(
                *move, times, self._in_runs[move, True] + self._in_runs[move, False],
                self._in_runs[move, True],
            )
            for move, times in self._times.items()
        ]  # fmt: skip
        found.sort(key=lambda each: (-each.times, _place(each.origin), _place(each.target)))
        return tuple(found)


def _place(tool: str | None) -> tuple[bool, str]:
    return tool is None, tool or ""
