"""Old votes: does a failure of yesterday renew what succeeded years ago?

An old way of doing a task succeeded often, long ago; a new way succeeded a few times lately. Then
the old way is tried once more, and fails. Its votes must not grow by that. Beside them stand the
votes where each success is as old as the last run of its way.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, pstdev
from typing import Any, Final

from trackrecord.learning.advice.past.past_tasks import ballots_of
from trackrecord.learning.advice.past.votes import recommend
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.numbers.decay import decayed

_NOW: Final = 1_790_000_000.0
_DAY: Final = 86_400.0
_HALF_LIFE_DAYS: Final = 90.0
_TEXT: Final = "cancel the reservation"


def make(seed: int) -> list[Run]:
    """Return the runs of one project, the failure last."""
    chance = random.Random(f"old votes/{seed}")
    old, new = chance.randint(5, 20), chance.randint(2, 5)
    days = chance.uniform(300.0, 1200.0)
    runs = [_run(number, "old", days + number) for number in range(old)]
    runs += [_run(100 + number, "new", 1.0 + number) for number in range(new)]
    return [*runs, _run(200, "old", 0.5, success=False)]


def _run(number: int, tool: str, days: float, *, success: bool = True) -> Run:
    return Run(
        outcome=number,
        task_id=f"t{number}",
        ended_at=_NOW - days * _DAY,
        success=success,
        instruction=_TEXT,
        steps=(RunStep(tool),),
    )


def share_of_old(runs: Sequence[Run]) -> float:
    """Return the share of the votes that the old way gets."""
    found = recommend(ballots_of(runs, _HALF_LIFE_DAYS), _TEXT, now=_NOW)
    return next((each.share for each in found.ranked if each.tools == ("old",)), 0.0)


def as_of_the_last_run(runs: Sequence[Run]) -> float:
    """Return the same where each success counts as if it had ended with its way's last run."""
    votes = {}
    for tool in ("old", "new"):
        own = [run for run in runs if tool in run.tools]
        age = _NOW - max(run.ended_at for run in own)
        votes[tool] = decayed(sum(run.success for run in own), age, _HALF_LIFE_DAYS)
    return votes["old"] / sum(votes.values())


def rows(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Return the share of the old way before and after its failure.

    Args:
        seeds: one project each.
    """
    made = [make(seed) for seed in seeds]
    for name, given in (
        ("before the failure", [each[:-1] for each in made]),
        ("after it", made),
    ):
        shares = list(map(share_of_old, given))
        yield {
            "moment": name,
            "share_of_old": fmean(shares),
            "spread": pstdev(shares),
            "as_of_the_last_run": fmean(map(as_of_the_last_run, given)),
        }
