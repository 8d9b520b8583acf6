"""All learning of one machine in one process: `python -m trackrecord_worker.learner [DESCRIPTOR]`.

`trackrecord up` runs it in place of a Celery worker and beat: the same jobs as often, on two
threads. One learns from the stream, on which it waits; the other one keeps what is cached up to
date. Consolidation, once a night, is a process of its own that ends when it is done.

To the descriptor it writes one byte when it has tried to read the stream: where a server is away
or full, it keeps trying.
"""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import structlog

from trackrecord.errors import ServerUnavailable, ServerUnfit, TrackrecordError
from trackrecord.process.logs import configure_logs
from trackrecord.process.python_command import python_command
from trackrecord.process.wall_clock import WallClock
from trackrecord.redis.client import worker_client
from trackrecord.settings.daemon_settings import DaemonSettings, load_daemon_settings

from . import jobs, wake_ups
from .nights import Nights
from .services import Services

_log = structlog.get_logger(__name__)

_UNFIT: Final = 3
_NIGHTLY: Final = "trackrecord_worker.nightly"
_JOBS: Final[dict[str, Callable[[Services], None]]] = {
    wake_ups.DRAIN: jobs.learn_waiting,
    wake_ups.CLAIM: jobs.take_over_pending,
    wake_ups.FORWARD: jobs.forward_spooled,
    wake_ups.REFRESH: jobs.refresh_caches,
    wake_ups.ADVISE: jobs.renew_advice,
    wake_ups.NEWS: jobs.look_for_news,
    wake_ups.EMBED: jobs.embed_records,
}
# They share what a drain has read.
_LEARNING: Final = (wake_ups.DRAIN, wake_ups.CLAIM)
_AWAY_PAUSE_S: Final = 1.0
# Objects made before the garbage collector looks; a batch makes some ten thousand.
_COLLECT_AFTER: Final = 50_000
_STOP_NIGHT_S: Final = 10.0
# What is being told at the end may be told to its end; the rest waits for the next process.
_LAST_NEWS_S: Final = 5.0


class Lane:
    """Some jobs on one thread, each when it is due by the monotonic clock.

    Args:
        name: of the thread.
        due_every: the tasks, and the seconds between two runs of each.
        stages: what the jobs are done with; this thread's own.
        stopping: set when the process is to end.
    """

    def __init__(
        self,
        name: str,
        due_every: dict[str, float],
        stages: Services,
        stopping: threading.Event,
    ) -> None:
        self._due_every = due_every
        self._stages = stages
        self._stopping = stopping
        self._thread = threading.Thread(target=self._run, name=name)
        self.has_run = threading.Event()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def wait(self) -> None:
        """Wait until the job at hand is done, after `stopping` was set."""
        self._thread.join()

    def _run(self) -> None:
        """Run each job when it is due, until the process is to end."""
        due_at = dict.fromkeys(self._due_every, time.monotonic())
        while not self._stopping.is_set():
            task = min(due_at, key=lambda each: due_at[each])
            if self._stopping.wait(max(0.0, due_at[task] - time.monotonic())):
                return
            pause_s = self._due_every[task]
            if not self._carry_out(task):
                pause_s = max(pause_s, _AWAY_PAUSE_S)
            due_at[task] = time.monotonic() + pause_s
            self.has_run.set()

    def _carry_out(self, task: str) -> bool:
        try:
            return jobs.carry_out(task, _JOBS[task], self._stages)
        except Exception:  # noqa: BLE001 - a mistake in one job does not end the others
            _log.exception("task_failed", task=task)
            return False


class Learner:
    """The lanes, and the nights.

    Args:
        settings: validated settings.
    """

    def __init__(self, settings: DaemonSettings) -> None:
        self._settings = settings
        self._stopping = threading.Event()
        self._stages = Services(settings, None)
        every = dict(wake_ups.wake_ups(settings).values())
        every.pop(wake_ups.CATCH_UP)
        # It waits on the stream by itself.
        every[wake_ups.DRAIN] = 0.0
        self._learning = Lane(
            "learn", {task: every[task] for task in _LEARNING}, self._stages, self._stopping
        )
        self._upkeep = Lane(
            "upkeep",
            {task: every_s for task, every_s in every.items() if task not in _LEARNING},
            self._stages.for_another_thread(),
            self._stopping,
        )

    def stop(self) -> None:
        """Let `run` end when the jobs at hand are done."""
        self._stopping.set()

    def run(self, ready: int | None) -> None:
        """Learn until `stop`.

        Args:
            ready: the descriptor that is told when reading the stream has been tried.
        """
        _ = self._stages.recogniser
        gc.collect()
        gc.freeze()
        gc.set_threshold(_COLLECT_AFTER)
        self._learning.start()
        self._upkeep.start()
        with self._telling_news():
            try:
                self._tell_ready(ready)
                self._watch_nights()
            finally:
                self._stopping.set()
                self._learning.wait()
                self._upkeep.wait()
        self._stages.spans.close()

    def _tell_ready(self, ready: int | None) -> None:
        while not self._learning.has_run.wait(0.1):
            if self._stopping.is_set():
                return
            self._check_lanes()
        if ready is not None:
            with contextlib.suppress(OSError):  # `up` waits no more
                os.write(ready, b"1")
            os.close(ready)

    def _check_lanes(self) -> None:
        """Raise where one has ended: this process ends, and `up` starts it again."""
        if not (self._learning.is_alive and self._upkeep.is_alive):
            message = "a thread that learns has ended"
            raise RuntimeError(message)

    @contextlib.contextmanager
    def _telling_news(self) -> Iterator[None]:
        if not self._settings.notify.command:
            yield
            return
        from .notify.sending import SenderThread

        thread = SenderThread(worker_client(self._settings), self._settings)
        thread.start()
        try:
            yield
        finally:
            thread.stop(_LAST_NEWS_S)

    def _watch_nights(self) -> None:
        """Have each night's work done when it is due, until the process is to end."""
        again_s = wake_ups.wake_ups(self._settings)["catch-up"].every_s
        nights = Nights(again_s, was_set=WallClock().was_set)
        while not self._stopping.wait(nights.wait_s()):
            self._check_lanes()
            task = nights.due()
            if task is not None:
                nights.note(task, self._night(task))

    def _night(self, task: str) -> float | None:
        """Run a task in a process of its own; return when the next night is due, None if it failed.

        It needs memory that this process would not give back, and a core that learning needs.
        """
        command = python_command("trackrecord_worker.up.up_child", str(os.getpid()), _NIGHTLY, task)
        with subprocess.Popen(  # noqa: S603 - our own command
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
        ) as process:
            while process.poll() is None:
                if self._stopping.wait(0.2):
                    process.terminate()
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(_STOP_NIGHT_S)
                    process.kill()
                    return None
            assert process.stdout is not None  # noqa: S101 - a pipe was asked for
            said = process.stdout.read()
        try:
            return float(said)
        except ValueError:
            _log.error("nightly_failed", status=process.returncode, effect="tried again later")
            return None


def main(arguments: Sequence[str]) -> int:
    """Learn until a signal; return the exit status."""
    from .checks.server_checks import check_servers

    try:
        settings = load_daemon_settings()
        configure_logs(settings.log_level)
        learner = Learner(settings)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: learner.stop())
        try:
            check_servers(settings)
        except ServerUnfit as error:
            _log.error("cannot_start", reason=str(error))
            return _UNFIT
        except ServerUnavailable as error:
            _log.warning("server_unavailable", reason=str(error), effect="the worker keeps trying")
        learner.run(int(arguments[0]) if arguments else None)
    except TrackrecordError as error:
        sys.stderr.write(f"trackrecord: {error}\n")
        return _UNFIT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
