"""Specific tools: those that a task itself requires, for any source."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from ..runs import Run

# Agreement beyond chance, Cohen's kappa: "almost perfect" in the words of Landis and Koch.
_AGREED_FROM: Final = 0.8


def specific_tools(runs: Sequence[Run]) -> frozenset[str]:
    """Return the tools on whose use the successful runs of one task agree.

    Tools for looking around are used or not, whatever the task. Where no task has two successful
    runs, the tools are returned that fewer than half of all runs used.
    """
    by_task: defaultdict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.success:
            by_task[run.task_id].append(run)
    several = [found for found in by_task.values() if len(found) > 1]
    if not several:
        return _rare(runs)
    tools = {tool for found in several for run in found for tool in run.tools}
    return frozenset(tool for tool in tools if _agreement(tool, several) >= _AGREED_FROM)


def _rare(runs: Sequence[Run]) -> frozenset[str]:
    uses = Counter(tool for run in runs for tool in run.tools)
    return frozenset(tool for tool, count in uses.items() if 2 * count < len(runs))


def _agreement(tool: str, groups: Iterable[list[Run]]) -> float:
    """Return Cohen's kappa over the pairs of runs within each group; 0 if all runs are alike."""
    pairs = agreed = runs = users = 0
    for group in groups:
        using, size = sum(tool in run.tools for run in group), len(group)
        pairs += size * (size - 1) // 2
        agreed += using * (using - 1) // 2 + (size - using) * (size - using - 1) // 2
        runs += size
        users += using
    share = users / runs
    by_chance = share**2 + (1 - share) ** 2
    return (agreed / pairs - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
