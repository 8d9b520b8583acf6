"""The neighbours term: how runs of similar tasks went that used similar tools."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import fsum
from typing import Final, NamedTuple

from ..tasks.task_index import TaskIndex, build_index
from .known_runs import KnownRun
from .log_odds import log_odds

_MOST_TASKS: Final = 20
_SCALE: Final = 5.0
_POWER: Final = 4
_STRENGTH: Final = 2.0
# Beyond the neighbours, for the texts of the run's own task, which may be left out.
_SPARE: Final = 5
_REMEMBERED: Final = 4096


class Neighbourhood(NamedTuple):
    """The results of a run's neighbours.

    Attributes:
        term: what they say, in log odds.
        runs: how many runs there were with a tool in common.
        successes: how many of these succeeded.
        tasks: of how many texts.
    """

    term: float = 0.0
    runs: int = 0
    successes: int = 0
    tasks: int = 0


class Neighbours:
    """Known runs by the texts of their tasks.

    Args:
        runs: all known runs; those without a text have no neighbours.
    """

    def __init__(self, runs: Sequence[KnownRun]) -> None:
        self._by_text: defaultdict[str, list[KnownRun]] = defaultdict(list)
        for run in runs:
            if run.text:
                self._by_text[run.text].append(run)
        self._texts = sorted(self._by_text)
        self._similar = lru_cache(maxsize=_REMEMBERED)(self._look_up)

    @cached_property
    def _index(self) -> TaskIndex:
        return build_index(self._texts)

    def _look_up(self, text: str) -> list[tuple[str, float]]:
        found = self._index.similar(text, most=_MOST_TASKS + _SPARE)
        return [(self._texts[position], cosine) for position, cosine in found]

    def around(self, run: KnownRun, left_out: Sequence[KnownRun]) -> Neighbourhood:
        """Return how the runs of the most similar tasks went.

        Args:
            run: the run.
            left_out: known runs that must not count.
        """
        skipped = {each.outcome for each in left_out}
        weights: list[float] = []
        surpluses: list[float] = []
        successes = tasks = texts = 0
        for text, cosine in self._similar(run.text) if run.text else ():
            others = [each for each in self._by_text[text] if each.outcome not in skipped]
            if not others or texts == _MOST_TASKS:
                continue
            texts += 1
            alike = [(_likeness(run, each, cosine), each) for each in others]
            counted = [(weight, each) for weight, each in alike if weight]
            tasks += bool(counted)
            successes += sum(each.success for _, each in counted)
            weights += [weight for weight, _ in counted]
            surpluses += [weight * each.surplus for weight, each in counted]
        if not weights:
            return Neighbourhood()
        chance = run.prior + fsum(surpluses) / (fsum(weights) + _STRENGTH)
        return Neighbourhood(log_odds(chance) - log_odds(run.prior), len(weights), successes, tasks)


def _likeness(run: KnownRun, other: KnownRun, cosine: float) -> float:
    both = len(run.tools & other.tools)
    either = len(run.tools) + len(other.tools) - both
    overlap = both / either if either else 1.0
    return _SCALE * cosine * overlap**_POWER * other.weight
