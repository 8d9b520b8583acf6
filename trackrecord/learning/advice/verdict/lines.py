"""The lines that describe the data behind the terms of a verdict."""

from collections.abc import Sequence
from typing import Final

from .known_runs import END, START, KnownRun
from .neighbours import Neighbourhood
from .steps import FeatureEffect

_MOST_FEATURES: Final = 3


def base_line(rate: float, source: str, count: int) -> str:
    """Return the subject of the base rate; without a source, the whole project."""
    whose = f"the runs of {source!r}" if source else "the project's runs"
    return f"{rate:.0%} of {whose} succeed ({_counted(count, 'run')})"


def steps_line(effects: Sequence[FeatureEffect]) -> str:
    """Return the line of the features that contribute most."""
    if not effects:
        return "no known run has a step in common with it"
    # The last tool by itself says the same as the step after it.
    pairs = [each for each in effects if len(each.feature) > 1]
    telling = sorted(pairs, key=lambda each: (-abs(each.effect), each.feature))[:_MOST_FEATURES]
    return "; ".join(
        f"{_named(each)}: {round(each.successes)} of {_counted(round(each.runs), 'run')} succeeded"
        for each in telling
    )


def neighbours_line(around: Neighbourhood) -> str:
    """Return how the neighbours went."""
    if not around.runs:
        return "no similar task that shares a tool with it is known"
    return (
        f"{around.successes} of {_counted(around.runs, 'run')} of "
        f"{_counted(around.tasks, 'similar task')} with tools in common succeeded"
    )


def task_line(others: Sequence[KnownRun]) -> str:
    """Return how the task's other runs went."""
    successes = sum(each.success for each in others)
    return f"{successes} of {_counted(len(others), 'other run')} of this task succeeded"


def _named(effect: FeatureEffect) -> str:
    before, after = effect.feature
    if before == START:
        return "no tool at all" if after == END else f"{after} first"
    return f"{before} last" if after == END else f"{before} then {after}"


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
