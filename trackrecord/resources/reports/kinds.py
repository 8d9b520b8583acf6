"""Kinds of task: how often tasks of each kind succeed."""

from __future__ import annotations

from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.declaration.checks import Limit
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Resource


class KindOfTask(Answer, frozen=True):
    """A kind of task.

    Attributes:
        name: what people call it.
        words: how often such tasks succeed, in words.
        rate: the share of runs that succeed, estimated.
        low: the lower end of its interval.
        high: the upper end of its interval.
        runs: the runs that were counted.
        tasks: their tasks.
        successes: the runs that succeeded.
    """

    name: str
    words: str
    rate: float
    low: float
    high: float
    runs: int
    tasks: int
    successes: int


KINDS = Resource("kinds", "List the kinds of task.")


@KINDS.offers(
    "GET /kinds",
    sorting=sorting_of("kinds", "name", name="name", rate="rate", runs="runs", tasks="tasks"),
    in_pages=True,
)
def list_kinds(*, limit: Limit | None = None, project: str | None = None) -> list[KindOfTask]:
    """List the kinds of task, the commonest first, and how often each succeeds.

    A kind is a trigger, a cluster of instructions with the same rare words, or a repository.

    Args:
        limit: the maximum number of kinds to return; all when not given.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from trackrecord.learning.advice.estimates.wording import rate_in_words
        from trackrecord.resources.experience.estimates import read_estimates

        estimates = read_estimates(it.connection, it.settings, it.project)
    found = []
    for position, name in enumerate(estimates.kinds.names):
        if position in estimates.counts.by_kind:
            estimate = estimates.kind(position)
            posterior, tally = estimate.posterior, estimate.tally
            words, (low, high) = rate_in_words(posterior, tally), posterior.interval
            found.append(
                KindOfTask(
                    name, words, posterior.mean, low, high, tally.runs, tally.tasks, tally.successes
                )
            )
    return sorted(found, key=lambda kind: (-kind.runs, kind.name))[:limit]
