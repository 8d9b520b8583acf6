"""A front door whose receiver writes what it takes to a file: `recording_door.py FD FILE`.

With a third argument "impatient", the bounds of connections are small.

While a file FILE.full exists, it takes nothing, and while FILE.broken exists, it fails; while
FILE.slow exists, it waits with each slice, and makes FILE.waiting.
The hooks of the agent "tester" are answered with their own body, those of "quiet" with nothing.
"""

import os
import socket
import sys
import time
from pathlib import Path

import msgspec

from trackrecord.process.logs import configure_logs
from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord_capture.otlp.encodings.receiver import Full
from trackrecord_door.access.tokens import with_own_token
from trackrecord_door.ingest.intake import Intake
from trackrecord_door.protocol.connections import BoundedProtocol
from trackrecord_door.protocol.listening import listen_in_home
from trackrecord_door.query_service import QueryService
from trackrecord_door.server import serve


class Impatient(BoundedProtocol):
    """As every connection, but with bounds that a test reaches soon."""

    most_connections = 50
    most_unproven = 25
    most_over_socket = 25
    head_s = 2.0
    stall_s = 3.0


class Recording:
    """Appends what it takes to a file, one JSON line each; on disk before it returns."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab")
        self._full = path.with_suffix(".full")
        self._slow = path.with_suffix(".slow")
        self._broken = path.with_suffix(".broken")
        self._waiting = path.with_suffix(".waiting")
        self._lost_disk = path.with_suffix(".lost")

    def spans(self, spans):
        return self._take("span", spans)

    def logs(self, logs):
        return self._take("log", logs)

    def note(self, kind, body):
        self._take(kind, [body.decode(errors="replace")])

    def close(self):
        self._take("closed", [None])

    def _take(self, kind, items):
        if self._full.exists():
            raise Full(1)
        if self._lost_disk.exists():
            raise OSError(28, "No space left on device")
        if self._broken.exists():
            message = "as the test asked"
            raise RuntimeError(message)
        deadline = time.monotonic() + 60
        if self._slow.exists():
            self._waiting.touch()
        while self._slow.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        kept = [item for item in items if getattr(item, "name", "") != "unwanted"]
        for item in kept:
            self._file.write(msgspec.json.encode({"kind": kind, "item": item}) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        return len(items) - len(kept)


def main() -> None:
    descriptor, path = int(sys.argv[1]), Path(sys.argv[2])
    settings = with_own_token(load_daemon_settings())
    configure_logs("info")
    recording = Recording(path)

    def tester(body: bytes) -> bytes:
        recording.note("hook", body)
        return body

    def quiet(body: bytes) -> None:
        recording.note("hook", body)

    intake = Intake(recording, {"tester": tester, "quiet": quiet}, recording.close)
    protocol = Impatient if "impatient" in sys.argv[3:] else BoundedProtocol
    listeners = [socket.socket(fileno=descriptor), listen_in_home(settings.home)]
    serve(listeners, settings.http, intake, QueryService(settings), protocol)


if __name__ == "__main__":
    main()
