"""The parts that the front door hands requests on to, built once in its process."""

import socket
import sqlite3

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import ServerUnavailable
from trackrecord_capture.agents.door_address import DoorAddress
from trackrecord_capture.live.opening import live_of
from trackrecord_capture.otlp.opening import traces_file, traces_of
from trackrecord_capture.otlp.trace_buffer import TraceBuffer

from .intake import Intake
from .listening import address_of


def create_intake(settings: DaemonSettings, listener: socket.socket) -> Intake:
    """Build and start what takes requests; hooks are told where the front door is.

    Raises:
        ServerUnavailable: the file with the traces cannot be opened.
        OSError: the home cannot be written.
    """
    traces = _traces_of(settings)
    live = live_of(settings)
    live.start(DoorAddress(*address_of(listener), settings.http.token or ""))
    traces.start()
    return Intake(traces, live.hooks, live.stop)


def _traces_of(settings: DaemonSettings) -> TraceBuffer:
    try:
        return traces_of(settings)
    except sqlite3.Error as error:
        path = traces_file(settings.home)
        message = f"{path} cannot be opened ({error}): move it away to begin a new one"
        raise ServerUnavailable(message) from error
