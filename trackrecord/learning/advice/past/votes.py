"""Votes: which procedure a task's text speaks for, by the successes of similar tasks.

Each successful run of a similar task votes for the tools that it used; its vote weighs the squared
cosine of both texts, and ages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from math import fsum
from typing import Final, NamedTuple

from ...numbers.decay import DecayRules, decayed
from ..tasks.task_index import TaskIndex

# A weaker top share of the votes is no recommendation.
NEEDS_MORE_BELOW: Final = 0.3
# Texts that share but a common word with the task say nothing about it.
LEAST_SIMILAR: Final = 0.1
MOST_SIMILAR: Final = 50
# A task that has only what most of the tasks have in common is like all of them: the newest vote.
_MOST_USUAL: Final = 500
_POWER: Final = 2

# The position of a procedure, its successes, its failures, when the last of them ended, and the
# moment as of which the successes vote: each of them has aged by itself.
Tally = tuple[int, int, int, float, float]


@dataclass(frozen=True)
class Ballots:
    """Past texts, and how each procedure fared in them.

    Attributes:
        index: finds texts that are similar to a task's.
        tallies: for each text of the index, its runs by procedure.
        procedures: the tools of each procedure, in the order in which they are shown.
    """

    index: TaskIndex
    tallies: Sequence[Sequence[Tally]]
    procedures: Sequence[tuple[str, ...]]

    @cached_property
    def newest(self) -> tuple[tuple[int, float], ...]:
        """The texts whose runs ended last, each as similar as can be."""
        last = {
            text: max((at for *_, at, _ in found), default=0.0)
            for text, found in enumerate(self.tallies)
        }
        return tuple(
            (text, 1.0)
            for text in nlargest(_MOST_USUAL, last, key=lambda text: (last[text], -text))
        )


class Voted(NamedTuple):
    """A procedure that got votes.

    Attributes:
        tools: its tools.
        share: its share of the votes, 0..1.
        procedure: its position among the procedures.
        successes: its successful runs in similar tasks.
        failures: its failed ones there.
        texts: the texts that voted for it.
    """

    tools: tuple[str, ...]
    share: float
    procedure: int
    successes: int
    failures: int
    texts: int


@dataclass(frozen=True)
class Recommendation:
    """The answer to a task's text.

    Attributes:
        ranked: the procedures that got votes, the best first.
        confidence: the first one's share of the votes; 0 if nothing got any.
        similar: the past texts that were similar enough, with their cosines, the best first.
    """

    ranked: tuple[Voted, ...] = ()
    confidence: float = 0.0
    similar: tuple[tuple[int, float], ...] = ()

    @property
    def needs_more(self) -> bool:
        """Return whether the votes are too scattered to act on, or there are none."""
        return self.confidence < NEEDS_MORE_BELOW


def recommend(
    ballots: Ballots,
    task: str | None,
    *,
    now: float,
    excluded: frozenset[int] = frozenset(),
    half_life_days: float = DecayRules.half_life_days,
) -> Recommendation:
    """Return the procedures that the successes of similar tasks speak for.

    Args:
        ballots: past texts, and how each procedure fared in them.
        task: the text of the task at hand; None lets every text vote alike.
        now: the moment that it is asked for, seconds since the epoch.
        excluded: positions of procedures that must not be recommended.
        half_life_days: days after which a vote counts half.
    """
    similar = _similar(ballots, task)
    votes: dict[int, list[float]] = {}
    counts: dict[int, list[int]] = {}
    tallies = ballots.tallies
    for text, cosine in similar:
        closeness = cosine**_POWER
        for procedure, successes, failures, _, voted_at in tallies[text]:
            if procedure in excluded:
                continue
            count = counts.get(procedure)
            if count is None:
                count = counts[procedure] = [0, 0, 0]
            count[1] += failures
            if successes:
                weight = decayed(successes * closeness, now - voted_at, half_life_days)
                votes.setdefault(procedure, []).append(weight)
                count[0] += successes
                count[2] += 1
    # An exact sum does not depend on the order of the texts.
    weighed = {procedure: fsum(weights) for procedure, weights in votes.items()}
    total = fsum(weighed.values())
    if not total:
        return Recommendation(similar=similar)
    shares = {procedure: weight / total for procedure, weight in weighed.items()}
    ranked = tuple(
        Voted(ballots.procedures[procedure], share, procedure, *counts[procedure])
        for procedure, share in sorted(
            shares.items(), key=lambda item: (-item[1], ballots.procedures[item[0]])
        )
    )
    return Recommendation(ranked, ranked[0].share, similar)


def _similar(ballots: Ballots, task: str | None) -> tuple[tuple[int, float], ...]:
    if task is None:
        return tuple((text, 1.0) for text in range(len(ballots.tallies)))
    found = ballots.index.similar(task, most=MOST_SIMILAR)
    enough = tuple((text, cosine) for text, cosine in found if cosine >= LEAST_SIMILAR)
    return enough or (ballots.newest if ballots.index.is_usual(task) else ())
