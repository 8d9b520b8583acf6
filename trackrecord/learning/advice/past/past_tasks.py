"""Past tasks: each text once, with how often which procedure succeeded."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from ...numbers.decay import DecayRules, moment_of
from ..runs.runs import Run
from ..tasks.task_index import build_index
from .votes import Ballots, Tally

# Only this much of it tells one text from another.
LONGEST_TEXT: Final = 300
MOST_TEXTS: Final = 10_000


@dataclass
class RunsOfOrder:
    """The runs of a text that used the same tools in the same order.

    Attributes:
        succeeded_at: when each successful one ended.
        failures: how many failed.
        last_at: when the last one ended.
    """

    succeeded_at: list[float] = field(default_factory=list)
    failures: int = 0
    last_at: float = 0.0

    def add(self, other: "RunsOfOrder") -> None:
        """Add the runs of another order."""
        self.succeeded_at += other.succeeded_at
        self.failures += other.failures
        self.last_at = max(self.last_at, other.last_at)


@dataclass
class RunsOfText:
    """The runs of one text.

    Attributes:
        text: the beginning of the instruction, or else the trigger, spaces evened out.
        last_at: when the last run ended.
        orders: its runs by the tools that they used, in order.
        newest: its newest run.
    """

    text: str
    newest: Run
    last_at: float = 0.0
    orders: dict[tuple[str, ...], RunsOfOrder] = field(default_factory=dict)


def past_tasks_of(runs: Iterable[Run]) -> list[RunsOfText]:
    """Return the texts of runs, sorted; of too many, those that ended last."""
    found: dict[str, RunsOfText] = {}
    for run in runs:
        if text := text_of(run):
            _add(found.setdefault(text, RunsOfText(text, run)), run)
    newest = sorted(found.values(), key=lambda task: (-task.last_at, task.text))[:MOST_TEXTS]
    return sorted(newest, key=lambda task: task.text)


def tallies_of(
    task: RunsOfText, position_of: Callable[[tuple[str, ...]], int], half_life_days: float
) -> tuple[Tally, ...]:
    """Return the runs of a text by procedure; the order of its tools does not matter.

    Args:
        task: the text.
        position_of: gives tools the position of their procedure.
        half_life_days: days after which a success counts half.
    """
    merged: defaultdict[int, RunsOfOrder] = defaultdict(RunsOfOrder)
    for order, runs in task.orders.items():
        merged[position_of(order)].add(runs)
    return tuple(
        (
            position,
            len(runs.succeeded_at),
            runs.failures,
            runs.last_at,
            moment_of(runs.succeeded_at, half_life_days) if runs.succeeded_at else 0.0,
        )
        for position, runs in sorted(merged.items())
    )


def text_of(run: Run) -> str:
    """Return the text that a run is found by; "" without one."""
    # An agent that reports no instruction may say what set the task off.
    return " ".join((run.instruction or run.trigger).split())[:LONGEST_TEXT]


def _add(task: RunsOfText, run: Run) -> None:
    ended = [run.ended_at] if run.success else []
    runs = task.orders.setdefault(run.order, RunsOfOrder(last_at=run.ended_at))
    runs.add(RunsOfOrder(ended, int(not run.success), run.ended_at))
    task.last_at = max(task.last_at, run.ended_at)
    if _newness(run) > _newness(task.newest):
        task.newest = run


def _newness(run: Run) -> tuple[float, str, str, str]:
    # Not by its row, which depends on the order of arrival.
    return run.ended_at, run.task_id, run.trigger, run.repository


def ballots_of(runs: Iterable[Run], half_life_days: float = DecayRules.half_life_days) -> Ballots:
    """Return the votes of runs; neither their order nor their number of deliveries matters."""
    tasks = past_tasks_of({run.outcome: run for run in runs}.values())
    procedures = sorted({tuple(sorted(order)) for task in tasks for order in task.orders})
    positions = {tools: position for position, tools in enumerate(procedures)}
    return Ballots(
        build_index([task.text for task in tasks]),
        [
            tallies_of(task, lambda order: positions[tuple(sorted(order))], half_life_days)
            for task in tasks
        ],
        procedures,
    )
