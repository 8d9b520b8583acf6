"""What a task will probably need, by what the most similar past tasks did."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from trackrecord.learning.advice.texts import Usage

from .advice_document import NO_PROCEDURE, AdviceDocument

# How many past texts are looked at, and how similar they must be: in themselves, and beside the
# best one.
_MOST_SIMILAR: Final = 20
_LEAST_COSINE: Final = 0.1
_LEAST_OF_BEST: Final = 0.5


@dataclass(frozen=True)
class Similar:
    """A past text that a task is similar to.

    Attributes:
        position: its place in the index.
        cosine: how similar it is, 0..1.
    """

    position: int
    cosine: float

    @property
    def weight(self) -> float:
        """How much it counts: closer ones disproportionately more."""
        return self.cosine**2


@dataclass(frozen=True)
class Expectation:
    """What similar past tasks say about a task.

    Attributes:
        similar: the most similar past texts, best first.
        tools: for each tool, how probable it is that the task uses it.
        kinds: for each kind of task, how probable it is that the task is of that kind.
        procedures: for each procedure, how probable it is that the task uses exactly that.
        votes: for each procedure, the share of the similar successes that used it.
        usage: for each procedure of a success, in how many similar tasks it was used.
    """

    similar: tuple[Similar, ...] = ()
    tools: Mapping[str, float] = field(default_factory=dict)
    kinds: Mapping[int, float] = field(default_factory=dict)
    procedures: Mapping[int, float] = field(default_factory=dict)
    votes: Mapping[int, float] = field(default_factory=dict)
    usage: Mapping[int, Usage] = field(default_factory=dict)


def expectation_of(advice: AdviceDocument, task: str) -> Expectation:
    """Return what is to be expected of a task; nothing where no past task is similar."""
    past = advice.past_tasks
    found = past.index.similar(task, most=_MOST_SIMILAR)
    least = max(_LEAST_COSINE, _LEAST_OF_BEST * found[0][1]) if found else 0.0
    similar = tuple(Similar(*each) for each in found if each[1] >= least)
    if not similar:
        return Expectation()
    used: Counter[int] = Counter()
    succeeded: Counter[int] = Counter()
    counts: dict[int, list[int]] = {}
    for each, position, successes, failures in _runs_of(advice, similar):
        runs = sum(runs[1] + runs[2] for runs in past.runs[each.position])
        used[position] += each.weight * (successes + failures) / runs  # type: ignore[assignment]  # weights
        succeeded[position] += each.weight * successes / runs  # type: ignore[assignment]  # weights
        known = counts.setdefault(position, [0, 0])
        known[0] += successes
        known[1] += failures
    return Expectation(
        similar,
        _shares(_tools_of(advice, used), sum(used.values())),
        _kinds_of(advice, similar),
        _shares(used, sum(used.values())),
        _shares(succeeded, sum(succeeded.values())),
        _usage_of(counts),
    )


def _runs_of(
    advice: AdviceDocument, similar: tuple[Similar, ...]
) -> Iterator[tuple[Similar, int, int, int]]:
    for each in similar:
        for position, successes, failures, _ in advice.past_tasks.runs[each.position]:
            if successes + failures:
                yield each, position, successes, failures


def _tools_of(advice: AdviceDocument, used: Mapping[int, float]) -> dict[str, float]:
    tools: dict[str, float] = {}
    for position, weight in used.items():
        if position != NO_PROCEDURE:
            for tool in advice.procedures[position].order:
                tools[tool] = tools.get(tool, 0.0) + weight
    return tools


def _kinds_of(advice: AdviceDocument, similar: tuple[Similar, ...]) -> dict[int, float]:
    kinds: dict[int, float] = {}
    known = array("I", advice.past_tasks.kinds)
    for each in similar:
        if each.position < len(known):
            kind = known[each.position]
            kinds[kind] = kinds.get(kind, 0.0) + each.weight
    return _shares(kinds, sum(kinds.values()))


def _usage_of(counts: Mapping[int, list[int]]) -> dict[int, Usage]:
    successes = sum(each[0] for each in counts.values())
    failures = sum(each[1] for each in counts.values())
    return {
        position: Usage(used[0], successes, used[1], failures)
        for position, used in counts.items()
        if used[0] and position != NO_PROCEDURE
    }


def _shares(weights: Mapping[str, float] | Mapping[int, float], total: float) -> dict:  # type: ignore[type-arg]
    return {each: min(1.0, weight / total) for each, weight in weights.items()} if total else {}
