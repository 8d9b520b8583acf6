"""Ballots of runs; agents read those that are counted already."""

from collections.abc import Iterable, Mapping

from .past_tasks import RunsOfText, past_tasks_of
from .runs import Run
from .task_index import build_index
from .votes import Ballots, Tally


def ballots_of(runs: Iterable[Run]) -> Ballots:
    """Return the votes of runs; neither their order nor their number of deliveries matters."""
    tasks = past_tasks_of({run.outcome: run for run in runs}.values())
    procedures = sorted({tuple(sorted(order)) for task in tasks for order in task.tallies})
    positions = {tools: position for position, tools in enumerate(procedures)}
    return Ballots(
        build_index([task.text for task in tasks]),
        [_tallies(task, positions) for task in tasks],
        procedures,
    )


def _tallies(task: RunsOfText, positions: Mapping[tuple[str, ...], int]) -> list[Tally]:
    """Return the runs of a text by procedure, whatever the order of its tools."""
    merged: dict[int, tuple[int, int, float]] = {}
    for order, (successes, failures, last) in task.tallies.items():
        position = positions[tuple(sorted(order))]
        known = merged.get(position, (0, 0, last))
        merged[position] = (known[0] + successes, known[1] + failures, max(known[2], last))
    return sorted((position, *tally) for position, tally in merged.items())
