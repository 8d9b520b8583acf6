"""Ballots of runs; agents read those that are counted already."""

from collections.abc import Iterable

from ...numbers.decay import DecayRules
from ..runs.runs import Run
from ..tasks.task_index import build_index
from .past_tasks import past_tasks_of, tallies_of
from .votes import Ballots


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
