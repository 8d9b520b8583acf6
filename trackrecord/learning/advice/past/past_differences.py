"""Differences among past runs of one text, mentioned only if chance hardly explains them.

Runs belong together that worked in one repository on one text, names and numbers apart. A fact of
a run is a tool that it used or an error that one of its calls met; each is held against how the
runs went by Fisher's exact test, and of all facts that are tested no more than one in a hundred of
those that are told is false (Benjamini-Hochberg).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma
from typing import Final

from ..lessons.chance import discoveries
from ..lessons.history import may_fail
from ..lessons.wording import error_text
from ..runs.attempts import attempts_of, without_order
from ..runs.runs import Run
from .past_tasks import LONGEST_TOLD, group_of, text_of

# A prompt errs in one of twenty by all that it says: see `estimates/exact_test`.
_LEVEL: Final = 0.01
# Of too many facts of one group the commonest are tested.
_MOST_FACTS: Final = 200
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, order=True)
class RunFact:
    """A kind of fact about a run.

    Attributes:
        tool: the tool that it used; "" for an error.
        error: the template of the error that one of its calls met; "" for a tool.
    """

    tool: str = ""
    error: str = ""


@dataclass(frozen=True)
class PastDifference:
    """One fact that separated the successes of a group from its failures.

    The counts are those of all runs of the group.

    Attributes:
        repository: where its runs worked; "" if not reported.
        texts: the distinct texts of its runs, sorted.
        example: the text of its newest run.
        last_at: when that run ended.
        fact: the fact.
        with_runs: the runs of which it is so.
        with_successes: the successful ones among them.
        runs: all runs.
        successes: the successful ones among all.
        probability: how probable the difference is by chance.
    """

    repository: str
    texts: tuple[str, ...]
    example: str
    last_at: float
    fact: RunFact
    with_runs: int
    with_successes: int
    runs: int
    successes: int
    probability: float


def past_differences(runs: Sequence[Run]) -> list[PastDifference]:
    """Return what made the difference, for each group its surest fact; in a fixed order.

    Only runs are compared that can be: of a task that is tried until it succeeds the first run
    alone, as its last one is a success whatever it did.

    Args:
        runs: runs of one project with a verdict, in any order.
    """
    groups: defaultdict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        if text := text_of(run):
            groups[run.repository, group_of(text)].append(run)
    comparable = _comparable(runs)
    tested = [
        (fact, group, probability)
        for _, group in sorted(groups.items())
        for fact, probability in _tests(group, comparable)
    ]
    kept = discoveries([each[2] for each in tested], level=_LEVEL, tests=max(1, len(tested)))
    surest: dict[int, PastDifference] = {}
    for place in kept:
        found = _difference(*tested[place])
        known = surest.setdefault(id(tested[place][1]), found)
        if _surest_first(found) < _surest_first(known):
            surest[id(tested[place][1])] = found
    return list(surest.values())


def _surest_first(found: PastDifference) -> tuple[float, bool, RunFact]:
    # Of equally sure ones what to do comes before what not to do.
    probability = float(f"{found.probability:.6e}")
    return (
        probability,
        found.with_successes * found.runs < found.successes * found.with_runs,
        found.fact,
    )


def _comparable(runs: Iterable[Run]) -> frozenset[int]:
    runs = list(runs)
    attempts = attempts_of(runs)
    return frozenset(
        outcome
        for outcome, attempt in attempts.items()
        if attempt.task is not None or not (attempt.failures or attempt.is_after_success)
    ) - without_order(runs, attempts)


def _tests(group: Sequence[Run], comparable: frozenset[int]) -> Iterator[tuple[RunFact, float]]:
    """Yield each fact that can be significant, with its probability by chance."""
    compared = [run for run in group if run.outcome in comparable]
    won = sum(run.success for run in compared)
    # No fact is surer than the one that parts all successes from all failures.
    if not compared or exp(-_log_ways(len(compared), won)) > _LEVEL:
        return
    counts: Counter[RunFact] = Counter()
    successes: Counter[RunFact] = Counter()
    for run in compared:
        facts = _facts_of(run)
        counts.update(facts)
        if run.success:
            successes.update(facts)
    commonest = sorted(counts, key=lambda fact: (-counts[fact], fact))[:_MOST_FACTS]
    for fact in commonest:
        if _at_best(counts[fact], won, len(compared)) <= _LEVEL:
            yield fact, exact_probability(successes[fact], counts[fact], won, len(compared))


def _facts_of(run: Run) -> set[RunFact]:
    # That a check passed or failed is what success was read from, and explains nothing.
    calls = [step for step in run.explaining if not may_fail(step.tool)]
    errors = {step.error for step in calls if step.error}
    return {
        *(RunFact(tool=step.tool) for step in calls),
        *(RunFact(error=error) for error in errors if error_text(error)),
    }


def exact_probability(hits: int, drawn: int, successes: int, total: int) -> float:
    """Return how probable a count at least this unlikely is by chance: Fisher's exact test.

    Args:
        hits: successes among the runs with a fact.
        drawn: the runs with the fact.
        successes: the successes among all runs.
        total: all runs.
    """
    likelihoods = _likelihoods(drawn, successes, total)
    observed = likelihoods[hits] * (1.0 + _ROUNDING)
    return sum(each for each in likelihoods.values() if each <= observed)


def _at_best(drawn: int, successes: int, total: int) -> float:
    """Return the least probability that the test can give a fact of so many runs (Tarone 1990)."""
    return min(_likelihoods(drawn, successes, total).values())


@lru_cache(maxsize=256)
def _likelihoods(drawn: int, successes: int, total: int) -> Mapping[int, float]:
    """Return how probable each count of successes among those drawn is (hypergeometric)."""
    low, high = max(0, drawn + successes - total), min(drawn, successes)
    return {
        hits: exp(
            _log_ways(successes, hits)
            + _log_ways(total - successes, drawn - hits)
            - _log_ways(total, drawn)
        )
        for hits in range(low, high + 1)
    }


def _log_ways(total: int, chosen: int) -> float:
    return lgamma(total + 1) - lgamma(chosen + 1) - lgamma(total - chosen + 1)


def _difference(fact: RunFact, group: Sequence[Run], probability: float) -> PastDifference:
    newest = max(group, key=lambda run: (run.ended_at, text_of(run)))
    having = [run for run in group if fact in _facts_of(run)]
    return PastDifference(
        repository=newest.repository,
        texts=tuple(sorted({text_of(run) for run in group})),
        example=text_of(newest)[:LONGEST_TOLD],
        last_at=newest.ended_at,
        fact=fact,
        with_runs=len(having),
        with_successes=sum(run.success for run in having),
        runs=len(group),
        successes=sum(run.success for run in group),
        probability=probability,
    )
