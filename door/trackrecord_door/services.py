"""The services that the front door passes requests on to, built once in its process."""

import fcntl
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from trackrecord.errors import AlreadyRunning
from trackrecord.process.folders import make_private_folder, open_private
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord_capture.agents.door_address import DoorAddress
from trackrecord_capture.history.counts import CountedSinks
from trackrecord_capture.live.opening import live_of
from trackrecord_capture.otlp.traces.opening import traces_of

from .access.tokens import reporting_token
from .ingest.intake import Intake
from .protocol.listening import LOCK, reached_at


def create_intake(settings: DaemonSettings, listener: socket.socket | None = None) -> Intake:
    """Create and start the intake; hooks learn where the front door is.

    Args:
        settings: those of the server.
        listener: the socket over TCP; None if the port is taken.

    Raises:
        AlreadyRunning: another process serves HTTP in this home.
        StoreUnfit: the buffer of traces cannot be used.
        OSError: the home cannot be written.
    """
    with ExitStack() as opened:
        opened.enter_context(_take_home(settings.home))
        captured = CountedSinks()
        traces = traces_of(settings, captured)
        opened.callback(traces.close)
        traces.start()
        live = live_of(settings, captured)
        at = ("", 0) if listener is None else reached_at(listener)
        live.start(DoorAddress(*at, reporting_token(settings.http.token)))
        opened.callback(live.stop)
        return Intake(traces, live.hooks, opened.pop_all().close, captured)


def _take_home(home: Path) -> TextIO:
    """Lock a home for this process: one at a time may write the buffer of traces.

    Raises:
        AlreadyRunning: another process holds it.
    """
    make_private_folder(home)
    lock = open_private(home / LOCK)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        message = f"another process serves HTTP in {home}; stop it first"
        raise AlreadyRunning(message) from None
    return lock
