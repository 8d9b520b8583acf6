"""Learning until Redis's memory has room, in a worker that cannot begin without."""

import os
import time

import redis
import structlog

from trackrecord.errors import ServerUnavailable
from trackrecord.redis.client import worker_client
from trackrecord.redis.problems import memory_is_full
from trackrecord.settings.settings import Settings

from ..process_services import TrackrecordApp

_log = structlog.get_logger(__name__)

_PAUSE_S = 1.0


def make_room(app: TrackrecordApp, settings: Settings) -> None:
    """Return when Redis takes entries again; one that is away is left to the worker's own tries."""
    if not _is_full(settings):
        return
    _log.warning("redis_full", effect="the worker learns what waits, and begins when there is room")
    app.stages.tell_ready()
    while _is_full(settings):
        # In a process of its own: the worker forks, and must have no connection open by then.
        pid = os.fork()
        if pid == 0:
            try:
                _learn(app)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(_PAUSE_S)
    _log.info("redis_has_room_again")


def _is_full(settings: Settings) -> bool:
    try:
        with worker_client(settings) as client:
            return memory_is_full(client)
    except (redis.RedisError, OSError):
        return False


def _learn(app: TrackrecordApp) -> None:
    try:
        app.stages.get().drain.run()
    except (ServerUnavailable, redis.RedisError) as error:
        _log.warning("server_unavailable", reason=str(error), effect="the worker keeps trying")
