"""Health checks of containers: `python -m trackrecord_worker.checks.health worker` (or `beat`).

Exit status 0: healthy. 1: unhealthy, with the reason on standard error.
"""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import redis
from sqlalchemy import text

from trackrecord.errors import ServerUnavailable, TrackrecordError, Unhealthy
from trackrecord.redis.client import agent_client
from trackrecord.redis.signs_of_life import LIFETIME_S, living_on_host
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import reading
from trackrecord.store.database.migrate import store_at

# Beat writes to its file every three minutes.
_UNWRITTEN_S = 420.0
_DATABASE_TIMEOUT_S = 3.0


def check_worker(settings: Settings) -> None:
    """Check that this host's worker is reading the stream, and can record outcomes.

    Raises:
        Unhealthy: no process of this host's worker has given a sign of life lately.
        ServerUnavailable: Redis or the database does not answer.
    """
    if not _ask(settings, lambda client: living_on_host(client, settings.keys)):
        message = f"no worker of this host has given a sign of life for {LIFETIME_S} s"
        raise Unhealthy(message)
    url = settings.effective_database_url
    with (
        store_at(url, timeout_s=_DATABASE_TIMEOUT_S, migrates=False) as engine,
        reading(engine) as connection,
    ):
        connection.execute(text("SELECT 1"))


def check_beat(settings: Settings) -> None:
    """Check that beat is at work, and can wake workers.

    Raises:
        Unhealthy: beat has not written to its file for a while.
        ServerUnavailable: Redis does not answer.
    """
    _ask(settings, lambda client: client.ping())
    try:
        age_s = time.monotonic() - float(settings.beat_file.read_text())
    except (OSError, ValueError):
        age_s = -1.0
    # A moment in the future was written before the machine was started.
    if age_s < 0:
        message = f"beat has not written to {settings.beat_file} yet"
        raise Unhealthy(message)
    if age_s > _UNWRITTEN_S:
        message = f"beat last wrote to {settings.beat_file} {age_s:.0f} s ago"
        raise Unhealthy(message)


CHECKS: dict[str, Callable[[Settings], None]] = {"worker": check_worker, "beat": check_beat}


def _ask(settings: Settings, question: Callable[[redis.Redis], Any]) -> Any:  # noqa: ANN401 - whatever Redis says
    with agent_client(settings) as client:
        try:
            return question(client)
        except redis.ResponseError:
            raise
        except (redis.RedisError, OSError) as error:
            message = f"Redis cannot be reached ({type(error).__name__})"
            raise ServerUnavailable(message) from None


def main(arguments: Sequence[str]) -> int:
    """Run the named checks; return the exit status."""
    check = CHECKS.get(arguments[0]) if len(arguments) == 1 else None
    if check is None:
        sys.stderr.write(f"usage: python -m trackrecord_worker.checks.health {'|'.join(CHECKS)}\n")
        return 1
    try:
        check(load_settings())
    except (TrackrecordError, redis.ResponseError) as error:
        sys.stderr.write(f"unhealthy: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
