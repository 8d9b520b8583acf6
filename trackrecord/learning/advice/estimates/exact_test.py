"""Exact tests: which labels such tasks surely go better with, of all that were tested.

A run's success is compared with those of its stratum alone. If a label made no difference, the
successes of each stratum would have fallen to its runs by lot; the probability of as many successes
with the label is that of a sum of hypergeometric numbers. Many labels are looked at: of those that
pass, no more than a few in a hundred are expected to be chance (Benjamini and Hochberg).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from ..lessons.chance import Stratum, chance_of, discoveries
from .effects import EffectRun

_Group = TypeVar("_Group")

# With lessons, votes and past tasks, which are tested by themselves at 1% each, a prompt errs in
# one of twenty.
_LEVEL: Final = 0.02
_LEAST_RUNS: Final = 10
_LEAST_TASKS: Final = 5


def surely_better(
    groups: Iterable[tuple[_Group, Sequence[EffectRun]]],
) -> set[tuple[_Group, str]]:
    """Return the labels with which such tasks surely succeed more often than otherwise.

    Only labels with enough runs, of enough tasks, that can be compared are tested, and all of them
    together.

    Args:
        groups: trials that are compared with each other, each with what names them.

    Returns:
        Each label, after the name of its group.
    """
    tested = [
        ((group, label), chance_of(strata))
        for group, trials in groups
        for label, strata in sorted(_tested(trials).items())
    ]
    kept = discoveries([chance for _, chance in tested], level=_LEVEL, tests=max(1, len(tested)))
    return {tested[place][0] for place in kept}


def _tested(trials: Sequence[EffectRun]) -> dict[str, list[Stratum]]:
    """Return the strata that can be compared, of each label that has enough runs there."""
    runs: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    with_label: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(
        lambda: defaultdict(lambda: [0, 0])
    )
    tasks: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for trial in trials:
        if trial.together > 1:  # no test of runs knows what counts as a part of one
            continue
        whole = runs[trial.stratum]
        whole[0] += 1
        whole[1] += trial.success
        for label in trial.labels:
            part = with_label[label][trial.stratum]
            part[0] += 1
            part[1] += trial.success
            tasks[label, trial.stratum].add(trial.task)
    found = {}
    for label, parts in with_label.items():
        compared = {
            stratum: Stratum(*runs[stratum], *part)
            for stratum, part in parts.items()
            if part[0] < runs[stratum][0]
        }
        distinct = set().union(*(tasks[label, stratum] for stratum in compared))
        is_enough = sum(each.labelled for each in compared.values()) >= _LEAST_RUNS
        if is_enough and len(distinct) >= _LEAST_TASKS:
            found[label] = [compared[stratum] for stratum in sorted(compared)]
    return found
