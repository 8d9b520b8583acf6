"""The rates of a project's process: how often work is rejected, retried, runs into a limit."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from ..text.times import Instant

# Higher counts are not told apart, so that a spread has a bounded number of lines.
MOST_COUNTED: Final = 10_000
WORST_NAMED: Final = 10


@dataclass(frozen=True)
class TaskCount:
    """A task with the highest count that an outcome of it reports.

    Attributes:
        task_id: the task.
        count: the count.
    """

    task_id: str
    count: int


@dataclass(frozen=True)
class Spread:
    """How a count is spread over outcomes.

    Attributes:
        outcomes_by_count: how many outcomes have each count, lowest first; a count above
            MOST_COUNTED counts as one more than that.
        worst: the tasks with the highest counts above 0, highest first, at most WORST_NAMED.
    """

    outcomes_by_count: Mapping[int, int] = field(default_factory=dict)
    worst: tuple[TaskCount, ...] = ()

    @property
    def highest(self) -> int | None:
        """The highest count of all; None without outcomes."""
        if self.worst:
            return self.worst[0].count
        return 0 if self.outcomes_by_count else None

    def over(self, limit: float) -> int:
        """Return how many outcomes have a count above a limit, which is at most MOST_COUNTED."""
        counts = self.outcomes_by_count.items()
        return sum(outcomes for count, outcomes in counts if count > limit)

    def share_over(self, limit: float) -> float | None:
        """Return the share of outcomes with a count above a limit; None without outcomes."""
        outcomes = sum(self.outcomes_by_count.values())
        return self.over(limit) / outcomes if outcomes else None

    def worst_over(self, limit: float) -> tuple[TaskCount, ...]:
        """Return those of the worst tasks whose count is above a limit."""
        return tuple(task for task in self.worst if task.count > limit)


class SpreadCounter:
    """Count outcomes one by one, in any order, in a bounded amount of memory."""

    def __init__(self) -> None:
        self._outcomes: Counter[int] = Counter()
        self._worst: dict[str, int] = {}
        self._lowest_named = 1

    def add(self, task_id: str, count: int) -> None:
        """Count one outcome."""
        self._outcomes[min(count, MOST_COUNTED + 1)] += 1
        if count >= self._lowest_named:
            self._worst[task_id] = max(count, self._worst.get(task_id, 0))
            if len(self._worst) > 2 * WORST_NAMED:
                self._worst = {task.task_id: task.count for task in self._named()}
                self._lowest_named = min(self._worst.values())

    def spread(self) -> Spread:
        """Return the spread of a count."""
        return Spread(dict(sorted(self._outcomes.items())), self._named())

    def _named(self) -> tuple[TaskCount, ...]:
        tasks = sorted(self._worst.items(), key=lambda task: (-task[1], task[0]))
        return tuple(TaskCount(*task) for task in tasks[:WORST_NAMED])


class ProcessFacts(NamedTuple):
    """One outcome's counts about its process; a missing count is None.

    Attributes:
        success: whether the task reached its goal.
        raw_score: its score, undecayed.
        reviews: reviews of the work.
        rejections: reviews that rejected it.
        test_fail_loops: rounds of failing tests.
        hard_limit_hits: times that a hard limit was hit.
        retries: retries on the way.
        tool_calls: calls of tools.
        task_id: the task that the outcome is of.
    """

    success: bool
    raw_score: float
    reviews: int | None = None
    rejections: int | None = None
    test_fail_loops: int | None = None
    hard_limit_hits: int | None = None
    retries: int | None = None
    tool_calls: int | None = None
    task_id: str = ""


@dataclass(frozen=True)
class ProcessTotals:
    """Sums over outcomes.

    Attributes:
        successes: outcomes whose task reached its goal.
        reviews: reviews; a rejection counts as one, even if no review was reported.
        rejections: reviews that rejected the work.
        test_fail_loops: rounds of failing tests.
        hard_limit_hits: times that a hard limit was hit.
        retries: retries.
        tool_calls: calls of tools.
        outcomes_with_tools: outcomes that report their tool calls, of which there may be none.
        outcomes_touching_proven: outcomes that touched a pattern which is proven now.
    """

    successes: int = 0
    reviews: int = 0
    rejections: int = 0
    test_fail_loops: int = 0
    hard_limit_hits: int = 0
    retries: int = 0
    tool_calls: int = 0
    outcomes_with_tools: int = 0
    outcomes_touching_proven: int = 0


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A project's rates as of one moment; a rate without a denominator is None.

    An outcome is the report on one task, so "per task" is per outcome. What an outcome does not
    mention did not happen, with one exception: an outcome without reported tools takes no part
    in the average number of tool calls.

    Attributes:
        at: the moment: what was received later does not count.
        since: what was received before does not count; where it is not set, everything counts.
        outcomes: how many count.
        rejection_rate: rejections ÷ reviews.
        test_fail_loops: rounds of failing tests per task.
        tool_calls: calls of tools per task.
        hard_limit_hits: hits of a hard limit per task.
        retry_count: retries per task.
        success_rate: the share whose task reached its goal.
        mean_score: the mean of the raw scores.
        proven_share: the share that touched a pattern which was proven at the moment.
        totals: the sums that the rates are made of.
        retries: how retries are spread over tasks; not known of a run of an earlier version.
        limit_hits: how hits of a hard limit are spread over tasks; as above.
    """

    at: Instant
    since: Instant | None
    outcomes: int
    rejection_rate: float | None
    test_fail_loops: float | None
    tool_calls: float | None
    hard_limit_hits: float | None
    retry_count: float | None
    success_rate: float | None
    mean_score: float | None
    proven_share: float | None
    totals: ProcessTotals
    retries: Spread | None = None
    limit_hits: Spread | None = None


RATES = (
    "rejection_rate",
    "test_fail_loops",
    "tool_calls",
    "hard_limit_hits",
    "retry_count",
    "success_rate",
    "mean_score",
    "proven_share",
)


def snapshot(
    facts: Iterable[ProcessFacts], *, touching_proven: int, at: float, since: float | None = None
) -> Snapshot:
    """Return the rates of outcomes, given in any order.

    Args:
        facts: of each outcome that counts.
        touching_proven: how many of these outcomes touched a proven pattern.
        at: the moment.
        since: the moment from which on outcomes count.
    """
    outcomes = successes = reviews = rejections = loops = hits = retries = calls = with_tools = 0
    scores = 0.0
    spread_retries, spread_hits = SpreadCounter(), SpreadCounter()
    for each in facts:
        outcomes += 1
        successes += each.success
        scores += each.raw_score
        rejected = each.rejections or 0
        rejections += rejected
        # A rejection is a review: a rate above 1 would say nothing.
        reviews += max(each.reviews or 0, rejected)
        loops += each.test_fail_loops or 0
        hits += each.hard_limit_hits or 0
        retries += each.retries or 0
        spread_hits.add(each.task_id, each.hard_limit_hits or 0)
        spread_retries.add(each.task_id, each.retries or 0)
        if each.tool_calls is not None:
            calls += each.tool_calls
            with_tools += 1
    return Snapshot(
        at=at,
        since=since,
        outcomes=outcomes,
        rejection_rate=_rate(rejections, reviews),
        test_fail_loops=_rate(loops, outcomes),
        tool_calls=_rate(calls, with_tools),
        hard_limit_hits=_rate(hits, outcomes),
        retry_count=_rate(retries, outcomes),
        success_rate=_rate(successes, outcomes),
        mean_score=_rate(scores, outcomes),
        proven_share=_rate(touching_proven, outcomes),
        totals=ProcessTotals(
            successes=successes,
            reviews=reviews,
            rejections=rejections,
            test_fail_loops=loops,
            hard_limit_hits=hits,
            retries=retries,
            tool_calls=calls,
            outcomes_with_tools=with_tools,
            outcomes_touching_proven=touching_proven,
        ),
        retries=spread_retries.spread(),
        limit_hits=spread_hits.spread(),
    )


def _rate(numerator: float, denominator: int) -> float | None:
    return numerator / denominator if denominator else None


def changes(earlier: Snapshot | None, later: Snapshot) -> dict[str, float | None]:
    """Return the change of each rate; None if there is nothing to compare."""
    return {name: _change(earlier, later, name) for name in RATES}


def _change(earlier: Snapshot | None, later: Snapshot, name: str) -> float | None:
    before = None if earlier is None else getattr(earlier, name)
    after = getattr(later, name)
    return None if before is None or after is None else after - before
