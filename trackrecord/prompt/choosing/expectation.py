"""Expectations about a task from the most similar past tasks."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from trackrecord.learning.advice.estimates.posterior import PRIOR_STRENGTH
from trackrecord.learning.advice.past.votes import Ballots, Recommendation, recommend

from ..documents.advice_document import NO_PROCEDURE, AdviceDocument

_Name = TypeVar("_Name", str, int)

# Of the past texts that vote, those are close that are at least half as similar as the best one.
_LEAST_OF_BEST: Final = 0.5
_NEWEST: Final = "newest expectation"
_PROBABLE: Final = 0.5


# The place of a past text in the index, and how similar it is to the task, 0..1.
_Similar = tuple[int, float]


@dataclass(frozen=True)
class Expectation:
    """The expectation about a task from similar past tasks.

    Attributes:
        similar: the closest past texts, best first.
        tools: for each tool, how probable it is that the task uses it.
        kinds: for each kind of task, how probable it is that the task is of that kind.
        votes: what the successes of similar tasks speak for.
        runs: the runs of the closest past texts.
    """

    similar: tuple[_Similar, ...] = ()
    tools: Mapping[str, float] = field(default_factory=dict)
    kinds: Mapping[int, float] = field(default_factory=dict)
    votes: Recommendation = field(default=Recommendation())
    runs: int = 0

    def probability_of(self, tools: Iterable[str], usual: float) -> float:
        """Return how probable it is that the task uses tools.

        The less is known of similar tasks, the more counts what the project's runs do at large.

        Args:
            tools: the tools.
            usual: the share of the project's runs that use them.
        """
        share = min((self.tools.get(tool, 0.0) for tool in tools), default=0.0)
        return (share * self.runs + usual * PRIOR_STRENGTH) / (self.runs + PRIOR_STRENGTH)

    @property
    def kind(self) -> int | None:
        """Return the task's more probable kind; None if there is none."""
        kind = max(self.kinds, key=lambda each: (self.kinds[each], -each), default=None)
        return None if kind is None or self.kinds[kind] <= _PROBABLE else kind


def expectation_of(advice: AdviceDocument, task: str) -> Expectation:
    """Return the expectation about a task; empty if no past task is similar.

    That of the newest question is remembered: draws and sections ask for the same.
    """
    known_task, known = advice.derived.get(_NEWEST, (None, None))
    found: Expectation = known if known_task == task else _expected_of(advice, task)
    advice.derived[_NEWEST] = task, found
    return found


def _expected_of(advice: AdviceDocument, task: str) -> Expectation:
    # The moment is the document's: the same documents and task give the same answer.
    ballots, excluded = advice.once("ballots", _ballots_of), frozenset({NO_PROCEDURE})
    votes = recommend(ballots, task, now=advice.computed_at, excluded=excluded)
    least = _LEAST_OF_BEST * votes.similar[0][1] if votes.similar else 0.0
    similar = tuple([each for each in votes.similar if each[1] >= least])
    if not similar:
        return Expectation()
    runs, used = _used_in(advice, similar)
    # What verdicts rest on is no part of a procedure, and used as often as in any task.
    tools = {**advice.checks, **used}
    return Expectation(similar, tools, _kinds_of(advice, similar), votes, runs)


def runs_of(
    advice: AdviceDocument, similar: tuple[_Similar, ...]
) -> Iterator[tuple[float, tuple[str, ...], int, int]]:
    """Yield, for each text, its similarity and each procedure with its successes and failures.

    The tools of a rare procedure may be unknown.
    """
    runs, procedures = advice.past_tasks.runs, advice.procedures
    for text, cosine in similar:
        for position, successes, failures, _, _ in runs[text]:
            order = () if position == NO_PROCEDURE else procedures[position].order
            yield cosine, order, successes, failures


def _ballots_of(advice: AdviceDocument) -> Ballots:
    past = advice.past_tasks
    return Ballots(past.index, past.runs, [each.order for each in advice.procedures])


def _used_in(advice: AdviceDocument, similar: tuple[_Similar, ...]) -> tuple[int, dict[str, float]]:
    """Return how many runs similar texts have, and the share of them that each tool has."""
    weights: dict[str, float] = {}
    weight_before = weights.get
    runs, total = 0, 0.0
    for cosine, order, successes, failures in runs_of(advice, similar):
        ended = successes + failures
        weight = cosine * ended
        runs += ended
        total += weight
        for tool in order:
            weights[tool] = weight_before(tool, 0.0) + weight
    return runs, _shares(weights, total)


def _kinds_of(advice: AdviceDocument, similar: tuple[_Similar, ...]) -> dict[int, float]:
    if not advice.kinds:
        return {}
    weights: defaultdict[int, float] = defaultdict(float)
    known = advice.once("kinds by text", lambda it: array("I", it.past_tasks.kinds))
    for text, cosine in similar:
        if text < len(known):
            weights[known[text]] += cosine
    return _shares(weights, sum(weights.values()))


def _shares(weights: Mapping[_Name, float], total: float) -> dict[_Name, float]:
    if not total:
        return {}
    # A conditional expression, for a task has hundreds of tools: a call takes three times as long.
    return {name: weight / total if weight < total else 1.0 for name, weight in weights.items()}
