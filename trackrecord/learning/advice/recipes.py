"""Recipes: procedures that can be recommended as examples that worked."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from math import comb
from typing import Final

from ..competences.episodes.actors import USER
from ..text.words import words_of
from .estimates.counting import procedure_of
from .runs.runs import Run

# Words of the names of tools that give a task to a person, or up.
_PERSONS: Final = frozenset({
    "human", "humans", "person", "operator", "supervisor", "manager", "representative", "staff",
    "人工", "人类", "客服",
})  # fmt: skip
_PASSES: Final = frozenset({
    "transfer", "handoff", "handover", "hand", "forward", "refer", "route", "redirect", "connect",
    "转接", "转到", "转交", "转人", "移交",
})  # fmt: skip
_GIVES_UP: Final = frozenset({
    "escalate", "escalation", "giveup", "surrender", "abandon", "放弃",
})  # fmt: skip
_GIVE_UP: Final = frozenset({"give", "up"})
# Most of the successful runs.
_MOST: Final = 0.5
# A tool that no success ends in was no part of failing: fewer failures than this in a row may be
# chance, and so may what is more probable than this.
_LEAST_TASKS: Final = 3
_CHANCE: Final = 0.05


def recipes_among(orders: Mapping[str, Sequence[str]], runs: Sequence[Run]) -> frozenset[str]:
    """Return the signatures of the procedures that can be recommended as examples that worked.

    Args:
        orders: the tools of each procedure in the order that its successful runs mostly used.
        runs: the runs of all of them.
    """
    won: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for run in runs:
        if run.success:
            procedure = procedure_of(run)
            won[procedure] += 1
            kept[procedure] += _calls(run) == tuple(orders[procedure])
    dead_ends = _dead_ends(runs)
    return frozenset(
        signature
        for signature, count in won.items()
        if orders[signature]
        and kept[signature] > _MOST * count
        and not any(gives_up(tool) or tool in dead_ends for tool in orders[signature])
    )


def gives_up(tool: str) -> bool:
    """Return whether a tool gives the task to a person, or up, by the words of its name."""
    words = words_of(tool)
    return bool(words & _GIVES_UP or words >= _GIVE_UP or (words & _PASSES and words & _PERSONS))


def _calls(run: Run) -> tuple[str, ...]:
    """Return the agent's calls; several calls of one tool in a row are one."""
    return tuple(tool for tool, _ in groupby(_tools(run)))


def _tools(run: Run) -> list[str]:
    return [step.tool for step in run.steps if step.actor != USER]


def _dead_ends(runs: Sequence[Run]) -> Collection[str]:
    """Return the tools that only failures end in, and whose runs fail more often than others.

    A tool in the middle of what works is left out of these: failures that stop halfway end in it,
    but the runs that use it succeed.
    """
    lost_in: defaultdict[str, set[str]] = defaultdict(set)
    won_in: set[str] = set()
    used: Counter[str] = Counter()
    used_and_won: Counter[str] = Counter()
    total = won = 0
    for run in runs:
        tools = _tools(run)
        if not tools:
            continue
        total, won = total + 1, won + run.success
        used.update(set(tools))
        if run.success:
            won_in.add(tools[-1])
            used_and_won.update(set(tools))
        else:
            lost_in[tools[-1]].add(run.task_id)
    return {
        tool
        for tool, tasks in lost_in.items()
        if tool not in won_in
        and len(tasks) >= _LEAST_TASKS
        and used_and_won[tool] * total < won * used[tool]
        and comb(total - won, len(tasks)) <= _CHANCE * comb(total, len(tasks))
    }
