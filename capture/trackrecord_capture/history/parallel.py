"""Read many logs on several cores: processes find outcomes, and the caller publishes them.

A process of its own gets one log at a time through a pipe and answers with its outcomes. It opens
no connection, remembers nothing, and ends when the pipe is closed: when the caller is done, is
interrupted or is killed. What has an order stays with the caller: outcomes come back in the order
of the logs, and only then get the names of their projects, so that the result is that of reading
one log after the other.
"""

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, Pipe
from typing import Any, Final, NamedTuple, Self

import msgspec

from trackrecord.process.machines import this_machine
from trackrecord.process.python_command import python_command
from trackrecord.settings.capture_rules import CaptureRules

from ..agent_run import AgentRun
from ..outcome import outcome_of, project_of, task_id_of
from ..projects import RunProjects
from ..sources.register import agent_of, tool_words
from ..sources.source import Log, Source, Unreadable
from .reading import Found, FoundOutcome, LogReading, OutcomeOf, find_outcomes

_MOST_PROCESSES: Final = 8
# Starting a process takes as long as reading some megabytes.
_WORTH_IT: Final = 48 * 1024 * 1024
# A larger log is read by the caller itself, which holds no more than one run of it.
LARGEST_SENT: Final = 32 * 1024 * 1024
# How much is read ahead of what is published: it bounds the outcomes that are held.
_MOST_AHEAD: Final = 64 * 1024 * 1024
_ENDED: Final = Unreadable(
    place="the file", reason="the process that read it ended; the next import reads it again"
)


class LogPart(NamedTuple):
    """A log, and the position from which it is to be read."""

    source: Source
    log: Log
    start: int = 0


def processes_for(parts: Sequence[LogPart]) -> int:
    """Return how many processes read logs the fastest; 0 if the caller does."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    count = min(cores or 1, _MOST_PROCESSES, len(parts))
    sent = sum(part.log.size for part in parts if part.log.size <= LARGEST_SENT)
    return count if count > 1 and sent >= _WORTH_IT else 0


def outcome_maker(rules: CaptureRules, projects: RunProjects | None = None) -> OutcomeOf:
    """Return what makes outcomes of recorded runs.

    Args:
        rules: what is kept of a run.
        projects: names their projects; without it, no name is taken by another repository.
    """
    machine, words = this_machine(), tool_words()

    def make(run: AgentRun) -> dict[str, Any] | None:
        return outcome_of(run, rules, projects, words, machine=machine)

    return make


class LogReaders:
    """Processes that find the outcomes of logs; close them, or use them in a `with` statement.

    Args:
        count: how many processes.
        with_automated: whether runs count that a program started.
        projects: names the projects of the runs; without it, their folders do.
    """

    def __init__(
        self, count: int, *, with_automated: bool, projects: RunProjects | None = None
    ) -> None:
        self._with_automated = with_automated
        self._projects = projects
        self._threads = ThreadPoolExecutor(count)
        self._own = threading.local()
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._is_closed = False

    def read(self, parts: Iterable[LogPart]) -> Iterator[tuple[LogPart, Iterable[Found] | None]]:
        """Yield logs with their outcomes, in order; None for a log that the caller has to read.

        Each log is to be done with before the next one is asked for.
        """
        waiting: deque[tuple[LogPart, Future[list[Found]] | None]] = deque()
        ahead = 0
        for part in parts:
            size = part.log.size if part.log.size <= LARGEST_SENT else 0
            while waiting and ahead + size > _MOST_AHEAD:
                ahead -= waiting[0][0].log.size if waiting[0][1] is not None else 0
                yield self._next(waiting)
            future = self._threads.submit(self._ask, part) if size else None
            waiting.append((part, future))
            ahead += size
        while waiting:
            yield self._next(waiting)

    def _next(
        self, waiting: deque[tuple[LogPart, Future[list[Found]] | None]]
    ) -> tuple[LogPart, Iterable[Found] | None]:
        part, future = waiting.popleft()
        return part, None if future is None else map(self._in_project, future.result())

    def _in_project(self, found: Found) -> Found:
        """Return an outcome in the project that is its repository's in this home."""
        if self._projects is None or isinstance(found, Unreadable) or found.fields is None:
            return found
        project = project_of(found.run, self._projects)
        if project == found.fields["project"]:
            return found
        if not project:
            return msgspec.structs.replace(found, fields=None)
        own = {"project": project, "task_id": task_id_of(found.run, project)}
        return msgspec.structs.replace(found, fields=found.fields | own)

    def _ask(self, part: LogPart) -> list[Found]:
        """Let the process of this thread read a log."""
        try:
            pipe = getattr(self._own, "pipe", None)
            if pipe is None:
                pipe = self._own.pipe = self._started()
            pipe.send((part.source.name, part.log, part.start))
            found: list[Found] = pipe.recv()
        except (EOFError, OSError):
            # It was killed; the next log gets another one.
            self._own.pipe = None
            return [_ENDED]
        return found

    def _started(self) -> Connection:
        """Start a process; return the pipe to it."""
        ours, theirs = Pipe()
        with theirs, self._lock:
            if self._is_closed:
                raise EOFError
            words = ["automated"] if self._with_automated else []
            command = python_command(__name__, str(theirs.fileno()), *words)
            # A Ctrl-C at the terminal reaches the caller alone, which ends the processes.
            process = subprocess.Popen(  # noqa: S603 - this Python, on a module of ours
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
            self._processes.append(process)
        return ours

    def close(self) -> None:
        """End all processes at once."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._is_closed = True
            for process in self._processes:
                process.kill()
            for process in self._processes:
                process.wait()
        self._threads.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _answer(pipe: Connection, find: Callable[[Source, Log, int], Iterator[Found]]) -> None:
    """Read logs until the pipe is closed."""
    while True:
        try:
            name, log, start = pipe.recv()
            pipe.send([_light(found) for found in find(agent_of(name).source, log, start)])
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return


def _light(found: Found) -> Found:
    """Return an outcome whose run has no calls, as no reader asks for them after publishing."""
    if isinstance(found, FoundOutcome):
        run = msgspec.structs.replace(found.run, calls=(), signs=())
        return msgspec.structs.replace(found, run=run)
    return found


def main() -> None:
    """Read the logs that come through a pipe; its number is the first argument."""
    from trackrecord.settings.settings import load_settings

    number, *more = sys.argv[1:]
    rules = load_settings().capture
    reading = LogReading(outcome_of=outcome_maker(rules), with_automated="automated" in more)

    def find(source: Source, log: Log, start: int) -> Iterator[Found]:
        return find_outcomes(source, log, start, reading)

    with Connection(int(number)) as pipe:
        _answer(pipe, find)


if __name__ == "__main__":
    main()
