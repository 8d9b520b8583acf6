"""The whole daemon: an embedded Redis unless one is configured, and a Celery worker with a beat.

They are one process, with a pool of threads. With the setting `worker_concurrency` the worker has a
pool of processes, and beat is a process of its own, as in containers (docker-compose.yml). All are
child processes that are watched and stopped in order.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ParamSpec, Self, TextIO, TypeVar

from trackrecord.errors import KeepsEnding, ServerUnavailable
from trackrecord.process.disk_room import free_share
from trackrecord.process.late_log import LateLog
from trackrecord.process.python_command import module_arguments, python_command
from trackrecord.settings.daemon_settings import DaemonSettings

from .embedded_redis import EmbeddedRedis
from .home_lock import note_pids, take_home
from .log_relay import LogRelay, LogTarget
from .server_binary import refuse_vulnerable_port

_P = ParamSpec("_P")
_R = TypeVar("_R")


def call_apart(function: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> _R:
    """Return what a function returns, or raise what it raises; it runs in a forked process."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(_answer(function, *given, **named))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    if not answer:
        message = "a process that was to check something was ended"
        raise RuntimeError(message)
    result, error = pickle.loads(answer)  # noqa: S301 - from our own child
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def _answer(function: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> bytes:
    try:
        return pickle.dumps((function(*given, **named), None))
    except BaseException as error:  # noqa: BLE001 - the caller raises it
        return pickle.dumps((None, error))


_FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
# More would be too large a number for a child that is never given up.
_DOUBLINGS = 10
# A child that lived this long was well; its next end is a first one again.
_WELL_AFTER_S = 60.0
# About seven seconds: the person who typed the command is waiting.
_MOST_BEFORE_UP = 3
# About four minutes.
_MOST_WHILE_UP = 10


@dataclass
class Restarts:
    """The ends of one child in a row, and the resulting pauses.

    Attributes:
        is_needed: whether `up` ends with a child that keeps ending; else it never gives up.
        ends: how often it ended without having lived for a minute.
    """

    is_needed: bool = True
    ends: int = 0

    def note_end(self, *, lived_s: float, was_up: bool) -> float | None:
        """Return the seconds until the child restarts; None to give up.

        Args:
            lived_s: how long it lived.
            was_up: whether everything had been up before.
        """
        self.ends = 1 if lived_s >= _WELL_AFTER_S else self.ends + 1
        if self.is_needed and self.ends > (_MOST_WHILE_UP if was_up else _MOST_BEFORE_UP):
            return None
        return min(LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(self.ends - 1, _DOUBLINGS))


_log = LateLog(__name__)

# Logs and all other files of a child are for its owner alone.
_UMASK = 0o077
# A warm shutdown waits for the drain at hand, which takes a slice of a few seconds.
_STOP_TIMEOUT_S = 30.0
# The processes of a killed worker hold its log open until they notice.
_LAST_WORDS_S = 0.5
# Celery puts the working folder in front of `sys.path`, and a person may start `up` in any folder:
# no file there may be imported. Nobody but root can write into this one.
_WORKING_FOLDER = "/"


class Child:
    """One child process.

    Args:
        name: for logs and messages.
        command: the name of a module, and the arguments for it.
        environment: its complete environment variables.
        log: the file for its log; standard error when not given.
        descriptors: of files that it inherits.
        is_needed: whether `up` ends when it keeps ending.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: dict[str, str],
        log: LogTarget | None,
        *,
        descriptors: Sequence[int] = (),
        is_needed: bool = True,
    ) -> None:
        self.name = name
        self._descriptors = descriptors
        self._command = command
        self._environment = environment
        self._log_file = log
        self._process: subprocess.Popen[bytes] | None = None
        self._relay: LogRelay | None = None
        self._restarts = Restarts(is_needed)
        self._started_at = 0.0
        self._restart_at: float | None = None

    @property
    def pid(self) -> int | None:
        """Its process id; None before it is started and after it was stopped."""
        return None if self._process is None else self._process.pid

    @property
    def is_running(self) -> bool:
        """Return whether the child runs."""
        return self._process is not None and self._process.poll() is None

    def start(self, lock: int) -> None:
        """Start it, in a process group of its own: Ctrl-C is for `up`, which stops it in order.

        Args:
            lock: the descriptor of a lock that it holds for as long as it lives.
        """
        command = python_command("trackrecord_worker.up.up_child", str(os.getpid()))
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            [*command, *self._command],
            env=self._environment,
            cwd=_WORKING_FOLDER,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(lock, *self._descriptors),
            umask=_UMASK,
        )
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        self._relay = LogRelay(self._process.stdout, self._log_file)
        self._started_at = time.monotonic()
        self._restart_at = None

    def revive(self, lock: int, *, was_up: bool) -> bool:
        """Start it again if it has ended and its pause is over; return whether it was started.

        Args:
            lock: as for `start`.
            was_up: whether everything had been up before.

        Raises:
            KeepsEnding: it has ended too often; the message names the cause.
        """
        if self._process is None or self._process.poll() is None:
            return False
        if self._restart_at is None:
            self._note_end(was_up=was_up)
        if self._restart_at is None or time.monotonic() < self._restart_at:
            return False
        self.start(lock)
        return True

    def complaint(self) -> str:
        """Return the last error line in its log."""
        return "" if self._relay is None else self._relay.last_complaint()

    def terminate(self) -> None:
        """Ask it to end."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self) -> None:
        """Wait until it has ended; kill it and all that it started when that takes too long."""
        if self._process is None:
            return
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._finish()

    def kill(self) -> None:
        """End it, and all that it started, at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._finish()

    def _finish(self) -> None:
        if self._relay is not None:
            self._relay.finish(_STOP_TIMEOUT_S)
        self._process = None

    def _note_end(self, *, was_up: bool) -> None:
        assert self._process is not None  # noqa: S101 - it has ended
        if self._relay is not None:
            self._relay.finish(_LAST_WORDS_S)
        status = self._process.returncode
        lived_s = time.monotonic() - self._started_at
        pause_s = self._restarts.note_end(lived_s=lived_s, was_up=was_up)
        if pause_s is None:
            raise KeepsEnding(self._why(status))
        _log.error("child_ended", child=self.name, status=status, again_in_s=pause_s)
        self._restart_at = time.monotonic() + pause_s

    def _why(self, status: int) -> str:
        cause = self.complaint() or f"its exit status is {status}, and its log does not say why"
        return f"the {self.name} cannot run, it ended {self._restarts.ends} times: {cause}"


APP = "trackrecord_worker.app"
# A busy machine takes many seconds to start Celery.
_LEARNING_TIMEOUT_S = 120.0
_LOOK_EVERY_S = 2.0
# A batch of large outcomes needs several times as much room as counts as little.
_LARGE_WRITE = 8


def worker_command(settings: DaemonSettings) -> list[str]:
    """Return the command of a worker, as plain processes and containers run it."""
    return python_command(
        "celery", "--app", APP, "--quiet", "worker",
        "--without-gossip", "--without-mingle", "--heartbeat-interval", "10",
        "--loglevel", settings.log_level,
    )  # fmt: skip


def beat_command(settings: DaemonSettings) -> list[str]:
    """Return the command of beat; one is enough, two do no harm."""
    return python_command(
        "celery", "--app", APP, "--quiet", "beat",
        "--loglevel", settings.log_level,
        "--pidfile", "",
    )  # fmt: skip


def solo_command(settings: DaemonSettings) -> list[str]:
    """Return the command of a worker that is its own beat, for one machine.

    One of its two threads learns while the other one works on caches, or on a night.
    """
    return [*worker_command(settings), "--pool", "threads", "--concurrency", "2", "--beat-thread"]


class Daemon:
    """Start, watch and stop the processes of `trackrecord up`.

    Args:
        settings: the settings for the children.
        environment: the variables with these settings; made of them when not given.
        port: a loopback port of the embedded Redis, with a password; 0 for its socket alone.
        log: the file for the children's logs; standard error when not given.
        stopping: set by a signal handler to make `start` return early.

    Raises:
        SettingsError: the crontab cannot be read, or the home's path is too long.
    """

    def __init__(
        self,
        settings: DaemonSettings,
        *,
        environment: Mapping[str, str] | None = None,
        port: int = 0,
        log: LogTarget | None = None,
        stopping: threading.Event | None = None,
    ) -> None:
        # Beat would only log the error, again and again.
        call_apart(_check_crontab, settings)
        self.settings = settings
        self._stopping = stopping or threading.Event()
        self._lock: TextIO | None = None
        self._is_up = False
        self._redis_restarts = Restarts()
        self._redis_started_at = 0.0
        self._is_disk_full = False
        self.redis: EmbeddedRedis | None = None
        if settings.redis_url is None:
            self.redis = EmbeddedRedis(
                settings.embedded_redis_folder, settings.embedded_redis_socket, port=port
            )
        if environment is None:
            from trackrecord.settings.settings import Settings

            assert isinstance(settings, Settings)  # noqa: S101 - else the caller gives it
            environment = settings.as_environment()
        environment = {**os.environ, **environment}
        self._environment = environment
        self._log_file = log
        self._ready: tuple[int, int] | None = os.pipe()
        os.set_blocking(self._ready[0], False)
        if settings.worker_concurrency is None:
            commands = {"worker": solo_command(settings)}
        else:
            commands = {"worker": worker_command(settings), "beat": beat_command(settings)}
        commands["worker"] += ["--ready-fd", str(self._ready[1])]
        self._children = [
            Child(
                name,
                module_arguments(command),
                environment,
                log,
                descriptors=self._ready[1:] if name == "worker" else (),
            )
            for name, command in commands.items()
        ]

    def start(self) -> None:
        """Start everything; returns when outcomes are learnt as soon as the servers are there.

        Raises:
            AlreadyRunning: another daemon runs in this home.
            ServerUnavailable: Redis or the database cannot be reached or cannot be worked with, a
                child keeps ending, or the disk is full.
        """
        self._lock = take_home(self.settings.home)
        try:
            if self.redis is not None:
                if self.redis.port:
                    refuse_vulnerable_port()
                self.redis.start()
                self._redis_started_at = time.monotonic()
            self._check_servers()
            for child in self._children:
                child.start(self._lock.fileno())
            self._note_pids()
            self._wait_until_learning()
        except BaseException as error:
            self.stop()
            if isinstance(error, (ServerUnavailable, OSError)) and self._is_short_of_room():
                # Whatever ended first: it names what it missed, not why.
                message = f"the disk of {self.settings.home} is full: make room, then start again"
                raise ServerUnavailable(message) from error
            raise

    def accompany(self, name: str, command: Sequence[str], descriptors: Sequence[int]) -> None:
        """Start one more child, which is watched as the others are.

        If it keeps ending, it is started again and again, and everything else goes on without it.

        Args:
            name: for logs and messages.
            command: the name of a module, and the arguments for it.
            descriptors: of files that it inherits, also when it is started again.
        """
        assert self._lock is not None  # noqa: S101 - start() holds it
        child = Child(
            name,
            command,
            self._environment,
            self._log_file,
            descriptors=descriptors,
            is_needed=False,
        )
        self._children.append(child)
        child.start(self._lock.fileno())
        self._note_pids()

    def watch(self, seconds: float) -> None:
        """Wait, and restart processes that end unexpectedly, once the disk has room for them.

        Raises:
            ServerUnavailable: something keeps ending; the message names the cause.
        """
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self._has_room():
                if self.redis is not None and self.redis.has_ended:
                    self._revive_redis(self.redis)
                for child in self._children:
                    self._revive(child)
            if self._stopping.wait(min(_LOOK_EVERY_S, left)):
                return

    def stop(self) -> None:
        """Stop beat, then the worker, which finishes its batch, then the embedded Redis.

        What accompanies them is stopped first: it may still have outcomes to publish.
        """
        for child in reversed(self._children):
            child.terminate()
        for child in self._children:
            child.wait()
        if self.redis is not None:
            self.redis.stop()
        self._release_home()

    def kill(self) -> None:
        """End everything at once, as a crash of the machine would (for tests of crashes)."""
        for child in self._children:
            child.kill()
        if self.redis is not None:
            self.redis.kill()
        self._release_home()

    def pids(self) -> dict[str, int]:
        """Return the process ids of the running children, by name."""
        return {child.name: child.pid for child in self._children if child.pid is not None}

    def _wait_until_learning(self) -> None:
        """Wait until a process learns, or keeps trying because a server went away meanwhile."""
        deadline = time.monotonic() + _LEARNING_TIMEOUT_S
        while not self._is_learning():
            if self._stopping.is_set():
                return
            if time.monotonic() > deadline:
                complaints = [said for child in self._children if (said := child.complaint())]
                why = complaints[-1] if complaints else "its log does not say why"
                message = f"the worker has not begun to learn in {_LEARNING_TIMEOUT_S:g} s: {why}"
                raise KeepsEnding(message)
            self.watch(0.1)
        self._is_up = True

    def _is_learning(self) -> bool:
        if not all(child.is_running for child in self._children):
            return False
        assert self._ready is not None  # noqa: S101 - start() is called once
        with contextlib.suppress(BlockingIOError):
            return bool(os.read(self._ready[0], 1))
        return False

    def _check_servers(self) -> None:
        """Check the servers; an embedded Redis that ends meanwhile is started again.

        Raises:
            ServerUnavailable: one cannot be reached, cannot be worked with, or keeps ending.
        """
        while True:
            try:
                call_apart(_check_servers, self.settings)
            except ServerUnavailable:
                if self.redis is None or self.redis.is_answering():
                    raise
                self._revive_redis(self.redis)
            else:
                return

    def _note_pids(self) -> None:
        assert self._lock is not None  # noqa: S101 - start() holds it
        note_pids(self._lock, {"up": os.getpid(), **self.pids()})

    def _revive(self, child: Child) -> None:
        assert self._lock is not None  # noqa: S101 - start() holds it
        if child.revive(self._lock.fileno(), was_up=self._is_up):
            self._note_pids()

    def _has_room(self) -> bool:
        """Return whether the disk has room; log once when it becomes scarce, once when not.

        What was short of room needs more than a little to begin again.
        """
        try:
            free, little = free_share(self.settings.home)
        except OSError:
            return True  # what is wrong with it is said by whoever needs it
        if not self._is_disk_full and free < little:
            self._is_disk_full = True
            _log.error(
                "disk_full",
                home=str(self.settings.home),
                free_bytes=free,
                effect="outcomes wait; what ends is started again when there is room: "
                "free some, or make it writable again",
            )
        elif self._is_disk_full and free >= 2 * little:
            self._is_disk_full = False
            _log.info("disk_has_room_again", home=str(self.settings.home), free_bytes=free)
        return not self._is_disk_full

    def _is_short_of_room(self, need: int = 1) -> bool:
        """Return whether the disk has less room than so many times what counts as little."""
        with contextlib.suppress(OSError):
            free, little = free_share(self.settings.home)
            return free < need * little
        return False

    def _revive_redis(self, server: EmbeddedRedis) -> None:
        lived_s = time.monotonic() - self._redis_started_at
        pause_s = self._redis_restarts.note_end(lived_s=lived_s, was_up=self._is_up)
        if pause_s is None and self._is_up and self._is_short_of_room(_LARGE_WRITE):
            pause_s = LONGEST_PAUSE_S
        if pause_s is None:
            message = f"the embedded Redis keeps ending; see {server.folder / 'redis.log'}"
            raise KeepsEnding(message)
        _log.error("embedded_redis_ended", effect="started again; agents spool meanwhile")
        # The first time at once: agents are waiting.
        self._stopping.wait(pause_s if self._redis_restarts.ends > 1 else 0.0)
        self._redis_started_at = time.monotonic()
        try:
            server.start()
        except (ServerUnavailable, OSError) as error:
            if not self._is_up:
                raise
            # The next look counts this as one more end.
            _log.error("embedded_redis_does_not_start", reason=str(error), effect="tried again")

    def _release_home(self) -> None:
        for descriptor in self._ready or ():
            os.close(descriptor)
        self._ready = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _check_crontab(settings: DaemonSettings) -> None:
    from ..schedule import parse_crontab

    parse_crontab(settings.consolidation_crontab)


def _check_servers(settings: DaemonSettings) -> None:
    from ..checks.server_checks import check_servers

    check_servers(settings)
