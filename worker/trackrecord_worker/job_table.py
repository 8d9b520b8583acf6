"""The table of jobs: what workers do again and again, and how often.

Each job is a Celery task of its name. Beat sends the tasks; what is merely looked after is due
together, and sent as one task, `UPKEEP`, with the names of the jobs that are due: a message costs
as many commands as a job.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from trackrecord.settings.daemon_settings import DaemonSettings

UPKEEP: Final = "trackrecord.upkeep"
DRAIN: Final = "trackrecord.drain"
CONSOLIDATE: Final = "trackrecord.consolidate"


class Job(NamedTuple):
    """A job.

    Attributes:
        name: of its Celery task.
        body: the name of its function in `jobs`, which beat need not import.
        every_s: the seconds between two runs; None for that by the crontab, and for a drain, whose
            turns follow each other.
        is_upkeep: whether it is sent together with others.
        is_wanted: whether settings ask for it.
    """

    name: str
    body: str
    every_s: float | None
    is_upkeep: bool = True
    is_wanted: Callable[[DaemonSettings], bool] = lambda _settings: True


# A drain waits on the stream for the whole of its turn, so that somebody always does.
JOBS: Final = (
    Job(DRAIN, "learn_waiting", None, is_upkeep=False),
    Job("trackrecord.forward", "forward_spooled", 5.0),
    Job("trackrecord.advise", "renew_advice", 5.0),
    Job("trackrecord.refresh", "refresh_caches", 5.0),
    Job("trackrecord.embed", "embed_records", 5.0, is_wanted=lambda it: bool(it.embeddings.url)),
    Job("trackrecord.claim", "take_over_pending", 10.0),
    Job("trackrecord.catch_up", "catch_up_consolidation", 300.0, is_upkeep=False),
    Job(CONSOLIDATE, "consolidate_all_projects", None, is_upkeep=False),
)
# A message costs as much as a short wait.
_SHORTEST_TURN_S: Final = 1.0
BY_NAME: Final = {job.name: job for job in JOBS}
TASKS: Final = (UPKEEP, *BY_NAME)


def turn_s(settings: DaemonSettings) -> float:
    """Return how long a drain's turn takes at least, in seconds: as often is one due."""
    return max(_SHORTEST_TURN_S, min(settings.drain_slice_s, settings.drain_block_s))
