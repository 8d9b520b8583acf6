"""Everything in one place: an embedded Redis unless one is configured, a worker, and beat.

The same commands run in containers (docker-compose.yml); here they are child processes that are
watched and stopped in order.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import redis
import structlog

from trackrecord.errors import AlreadyRunning, ServerUnavailable
from trackrecord.redis_client import worker_client
from trackrecord.settings import Settings
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate

from .embedded_redis import EmbeddedRedis
from .schedule import parse_crontab

_log = structlog.get_logger(__name__)

APP = "trackrecord_worker.app"
# A warm shutdown waits for the drain at hand, which takes a slice of a few seconds.
_STOP_TIMEOUT_S = 30.0
_RESTART_PAUSE_S = 1.0


def worker_command(settings: Settings) -> list[str]:
    """The command of a worker, as plain processes and containers run it."""
    return [
        sys.executable, "-m", "celery", "--app", APP, "--quiet", "worker",
        "--without-gossip", "--without-mingle", "--without-heartbeat",
        "--loglevel", settings.log_level,
    ]  # fmt: skip


def beat_command(settings: Settings) -> list[str]:
    """The command of beat; one is enough, two do no harm."""
    return [
        sys.executable, "-m", "celery", "--app", APP, "--quiet", "beat",
        "--loglevel", settings.log_level,
        "--pidfile", "",
    ]  # fmt: skip


@dataclass
class _Child:
    """A child process that ought to run."""

    name: str
    command: list[str]
    process: subprocess.Popen[bytes] | None = None
    restart_at: float = 0.0


class Daemon:
    """Starts, watches and stops what `trackrecord up` consists of.

    Args:
        settings: as the children are to have them.
        port: a loopback port of the embedded Redis; 0 for its socket alone.
        log: where the children's logs go; standard error when not given.

    Raises:
        SettingsError: the crontab cannot be read, or the home's path is too long.
    """

    def __init__(self, settings: Settings, *, port: int = 0, log: IO[bytes] | None = None) -> None:
        # Beat would only say so in its log, again and again.
        parse_crontab(settings.consolidation_crontab)
        self.settings = settings
        self._log_file = log
        self._lock: IO[str] | None = None
        self.redis: EmbeddedRedis | None = None
        if settings.redis_url is None:
            self.redis = EmbeddedRedis(
                settings.home / "redis", settings.embedded_redis_socket, port=port
            )
        self._children = [
            _Child("worker", worker_command(settings)),
            _Child("beat", beat_command(settings)),
        ]

    def start(self) -> None:
        """Start everything; returns when outcomes are being learnt.

        Raises:
            AlreadyRunning: another one works in this home.
            ServerUnavailable: Redis or the database cannot be reached.
        """
        self._take_home()
        try:
            if self.redis is not None:
                self.redis.start()
            self._check_servers()
            for child in self._children:
                self._spawn(child)
            self._note_pids()
        except BaseException:
            self.stop()
            raise

    def watch(self, seconds: float) -> None:
        """Wait, and start again what ends unexpectedly."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self.redis is not None and self.redis.has_ended:
                _log.error("embedded_redis_ended", effect="started again; agents spool meanwhile")
                self.redis.start()
            for child in self._children:
                self._revive(child)
            time.sleep(min(0.2, left))

    def stop(self) -> None:
        """Stop beat, then the worker, which finishes its batch, then the embedded Redis."""
        for child in reversed(self._children):
            if child.process is not None and child.process.poll() is None:
                child.process.send_signal(signal.SIGTERM)
        for child in self._children:
            if child.process is not None:
                try:
                    child.process.wait(_STOP_TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    _kill_group(child.process)
                child.process = None
        if self.redis is not None:
            self.redis.stop()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def kill(self) -> None:
        """End everything at once, as a crash of the machine would (for tests of crashes)."""
        for child in self._children:
            if child.process is not None:
                _kill_group(child.process)
                child.process = None
        if self.redis is not None:
            self.redis.kill()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def pids(self) -> dict[str, int]:
        """The children that run, by name."""
        return {
            child.name: child.process.pid for child in self._children if child.process is not None
        }

    def _take_home(self) -> None:
        self.settings.home.mkdir(parents=True, exist_ok=True)
        lock_path: Path = self.settings.home / "up.lock"
        lock = lock_path.open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            running = lock.read(200).strip() or "no process id known"
            lock.close()
            message = (
                f"trackrecord is already running in {self.settings.home} ({running}); "
                "stop it first, or set another TRACKRECORD_HOME"
            )
            raise AlreadyRunning(message) from None
        self._lock = lock

    def _note_pids(self) -> None:
        assert self._lock is not None  # noqa: S101 - start() holds it
        self._lock.seek(0)
        self._lock.truncate()
        pids = {"up": os.getpid(), **self.pids()}
        self._lock.write(", ".join(f"{name} {pid}" for name, pid in pids.items()) + "\n")
        self._lock.flush()

    def _check_servers(self) -> None:
        try:
            with worker_client(self.settings) as client:
                client.ping()
        except (redis.RedisError, OSError) as error:
            message = f"Redis cannot be reached ({error}); check TRACKRECORD_REDIS_URL"
            raise ServerUnavailable(message) from None
        engine = connect_store(self.settings.effective_database_url)
        try:
            migrate(engine)
        finally:
            engine.dispose()

    def _spawn(self, child: _Child) -> None:
        assert self._lock is not None  # noqa: S101 - start() holds it
        # A process group of its own: Ctrl-C is for us, and we stop the children in order. They
        # inherit the lock, so that orphans of a killed `up` are noticed by the next one.
        child.process = subprocess.Popen(  # noqa: S603 - our own command
            child.command,
            env={**os.environ, **self.settings.as_environment()},
            stdin=subprocess.DEVNULL,
            stdout=self._log_file or sys.stderr,
            stderr=self._log_file or sys.stderr,
            start_new_session=True,
            pass_fds=(self._lock.fileno(),),
        )

    def _revive(self, child: _Child) -> None:
        if child.process is None or child.process.poll() is None:
            return
        if child.restart_at == 0.0:
            _log.error("child_ended", child=child.name, status=child.process.returncode)
            child.restart_at = time.monotonic() + _RESTART_PAUSE_S
        elif time.monotonic() >= child.restart_at:
            child.restart_at = 0.0
            self._spawn(child)
            self._note_pids()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a child and all that it started; each leads a process group of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
