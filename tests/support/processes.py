"""Processes of tests: a `trackrecord up`, free ports, and waiting for what happens elsewhere."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")
_URL = re.compile(r"^HTTP: (\S+)\n", re.MULTILINE)


def until(
    condition: Callable[[], Found],
    seconds: float = 200.0,
    explain: Callable[[], object] = lambda: "it did not happen in time",
) -> Found:
    """Wait until a condition holds, and fail where it never does; return what it is."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, explain()
        time.sleep(0.02)
    return found


def free_port() -> int:
    """Return a free port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, in order if possible."""
    process.terminate()
    try:
        process.wait(200)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def trackrecord_up(environment: Mapping[str, str], log: Path) -> Iterator[str]:
    """A `trackrecord up` that is stopped with the block; the address of its front door."""
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "trackrecord_cli", "up"], env=environment,
            stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
        )  # fmt: skip
    try:
        until(lambda: _URL.search(log.read_text()) or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield _URL.findall(log.read_text())[0]
    finally:
        end(process)
