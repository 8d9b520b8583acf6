"""Splits: training runs, and runs that predictions are made for."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple, TypeVar

from ..runs.runs import Run

_KNOWN_SHARE: Final = 0.7
_Key = TypeVar("_Key", str, int)


class Split(NamedTuple):
    """Runs in two parts.

    Attributes:
        known: the runs to learn from.
        asked: the runs to predict.
    """

    known: list[Run]
    asked: list[Run]


def by_task(runs: Sequence[Run], splits: int, random: Random) -> Iterator[Split]:
    """Yield splits in which no task is in both parts."""
    return _split(runs, lambda run: run.task_id, splits, random)


def by_run(runs: Sequence[Run], splits: int, random: Random) -> Iterator[Split]:
    """Yield splits of single runs, so that a task may be in both parts."""
    return _split(runs, lambda run: run.outcome, splits, random)


def _split(
    runs: Sequence[Run], key: Callable[[Run], _Key], splits: int, random: Random
) -> Iterator[Split]:
    # Whatever the order of the runs.
    keys = sorted({key(run) for run in runs})
    known_count = min(len(keys) - 1, max(1, round(len(keys) * _KNOWN_SHARE)))
    for _ in range(splits):
        random.shuffle(keys)
        known = set(keys[:known_count])
        yield Split(
            [run for run in runs if key(run) in known],
            [run for run in runs if key(run) not in known],
        )
