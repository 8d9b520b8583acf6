"""A real loop with a front door: Redis, a worker that has learnt something, and their metrics."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import redis

from tests.support.no_tls import NO_TLS
from tests.support.own_token import of_its_user
from tests.support.processes import end
from trackrecord.settings.daemon_settings import HttpSettings
from trackrecord.settings.settings import Settings
from trackrecord_door.protocol.listening import listen, url_of
from trackrecord_worker.app import create_app
from trackrecord_worker.up.daemon import worker_command

PATIENCE_S = 200.0
# The outcomes that the loop of the tests has learnt.
GOOD, FAILED, UNKNOWN = 5, 2, 1


@dataclass(frozen=True)
class Loop:
    """The processes of a running loop."""

    settings: Settings
    redis: redis.Redis
    http: httpx.Client

    def wake(self, *tasks: str) -> None:
        """Wake the worker, as beat does."""
        app = create_app(self.settings)
        for task in tasks:
            app.send_task(f"trackrecord.{task}")

    def scrape(self, accept: str = "") -> str:
        """Return a scrape."""
        answer = self.http.get("/metrics", headers={"Accept": accept} if accept else {})
        assert answer.status_code == 200, answer.text
        return answer.text


@contextmanager
def running(command: list[str], settings: Settings, *descriptors: int) -> Iterator[None]:
    """A process with these settings, stopped at the end; it logs to its home."""
    with (settings.home / "test.log").open("ab") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **settings.as_environment()}, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, pass_fds=descriptors, start_new_session=True,
        )  # fmt: skip
    try:
        yield
    finally:
        end(process)


@contextmanager
def front_door(settings: Settings) -> Iterator[httpx.Client]:
    """A front door as `up` starts it, and a client of it."""
    with listen(HttpSettings(port=0)) as listener:
        command = [sys.executable, "-m", "trackrecord_door", str(listener.fileno())]
        with (
            running(command, settings, listener.fileno()),
            httpx.Client(
                base_url=of_its_user(url_of(listener), settings.home),
                timeout=PATIENCE_S,
                verify=NO_TLS,
            ) as client,
        ):
            yield client


@contextmanager
def loop_of(settings: Settings, client: redis.Redis) -> Iterator[Loop]:
    """A worker and a front door on one home, whose Redis runs already."""
    with running(worker_command(settings), settings), front_door(settings) as http:
        yield Loop(settings, client, http)
