"""A server of HTTP under measurement, in a process on a core of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from trackrecord.settings.daemon_settings import HttpSettings
from trackrecord.settings.settings import Settings
from trackrecord_door.protocol.listening import listen, reached_at

from .servers import REPOSITORY, stop

DOOR = ("-m", "trackrecord_door")
_TOKEN = "a-token-of-the-measurements"  # noqa: S105 - of these servers alone
CREDENTIAL = {"Authorization": f"Bearer {_TOKEN}"}


@dataclass(frozen=True)
class Server:
    """A server under measurement, on a core of its own."""

    process: psutil.Process
    address: tuple[str, int]

    def resident_mib(self) -> float:
        """Return its memory in use."""
        size: int = self.process.memory_info().rss
        return size / 1024**2

    def cpu_s(self) -> float:
        """Return the processor time that it has taken."""
        times = self.process.cpu_times()
        taken: float = times.user + times.system
        return taken


@contextmanager
def serving(command: Sequence[str], settings: Settings) -> Iterator[Server]:
    """Run a server on the first core and everything else on the others, where that can be said."""
    with listen(HttpSettings(port=0)) as listener:
        descriptor = listener.fileno()
        with (settings.home / "server.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *command, str(descriptor)],
                cwd=REPOSITORY,
                env={
                    **os.environ,
                    **settings.as_environment(),
                    "TRACKRECORD_HTTP__TOKEN": _TOKEN,
                },
                pass_fds=(descriptor,),
                stdout=log,
                stderr=log,
            )
        try:
            with _apart(process.pid):
                yield Server(psutil.Process(process.pid), reached_at(listener))
        finally:
            stop(process)


@contextmanager
def _apart(pid: int) -> Iterator[None]:
    """Give a process a core of its own."""
    cores = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []
    if len(cores) < 2:
        yield
        return
    os.sched_setaffinity(pid, cores[:1])
    os.sched_setaffinity(0, cores[1:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
