"""The tasks: names under which a process of the worker runs the functions of `jobs`."""

from collections.abc import Callable

import redis
import structlog
from celery import Task, shared_task

from trackrecord.errors import ServerUnavailable, StoreUnavailable
from trackrecord.redis.problems import is_out_of_memory

from . import jobs
from .process_services import TrackrecordApp
from .schedule import DRAIN_TASK
from .services import Services

REDIS_AWAY = (redis.ConnectionError, redis.TimeoutError)

_log = structlog.get_logger(__name__)


def _run(job: Callable[[Services], None], stages: Services) -> None:
    try:
        job(stages)
    except StoreUnavailable as error:
        stages.outage.begin(str(error))


def _task(name: str, job: Callable[[Services], None]) -> Task[[], None]:
    """Return a task for a job; a server that is away is not an error for it."""

    @shared_task(name=name, bind=True)
    def run(task: Task[[], None]) -> None:
        app = task.app
        assert isinstance(app, TrackrecordApp)  # noqa: S101 - `app.create_app` makes no other
        stages = app.stages.get()
        try:
            _run(job, stages)
            stages.redis_outage.end()
        except (ServerUnavailable, redis.RedisError) as error:
            # A Redis whose memory is full refuses writes, and takes them again when there is room.
            if not isinstance(error, (ServerUnavailable, *REDIS_AWAY)) and not is_out_of_memory(
                error
            ):
                raise
            stages.redis_outage.begin()
            # The entries that were read stay pending; the next wake-up tries again.
            _log.warning("redis_unavailable", task=name, reason=type(error).__name__)

    return run


drain = _task(DRAIN_TASK, jobs.learn_waiting)
claim = _task("trackrecord.claim", jobs.take_over_pending)
forward = _task("trackrecord.forward", jobs.forward_spooled)
refresh = _task("trackrecord.refresh", jobs.refresh_caches)
advise = _task("trackrecord.advise", jobs.renew_advice)
news = _task("trackrecord.news", jobs.look_for_news)
embed = _task("trackrecord.embed", jobs.embed_records)
consolidate = _task("trackrecord.consolidate", jobs.consolidate_all_projects)
catch_up = _task("trackrecord.catch_up", jobs.catch_up_consolidation)
