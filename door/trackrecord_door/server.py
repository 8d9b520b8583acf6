"""The server of the front door, in the process that calls it."""

import asyncio
import contextlib
import logging
import resource
import signal
import socket
from collections.abc import Sequence
from types import FrameType

import uvicorn

from trackrecord.settings.daemon_settings import HttpSettings

from .application import create_app
from .ingest.intake import Intake
from .protocol.connections import BoundedProtocol
from .query_service import QueryService

# A head beyond this is refused.
_MAX_HEAD_BYTES = 64 * 1024
# Between two requests of one connection. Exporters post every five seconds.
_KEEP_ALIVE_S = 15
# `up` waits for 30 seconds, and the receiver needs some time for itself.
_LAST_REQUESTS_S = 10
_LOOK_EVERY_S = 1.0
_OTHER_FILES = 100
# So many connections may be taken at once before those that are too many are closed.
_BACKLOG = 1024


def _permit_files(protocol: type[BoundedProtocol]) -> None:
    """Let this process have a file for each connection; some systems begin with 256 in all."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = protocol.most_connections + protocol.most_over_socket + 2 * _BACKLOG + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class _Server(uvicorn.Server):
    """uvicorn's server, which looks once a second and not ten times, and stops at once."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        """Keep the date of answers right until a signal comes."""
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), _LOOK_EVERY_S)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; a second signal stops without waiting for requests."""
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake.set)


def serve(
    listeners: Sequence[socket.socket],
    settings: HttpSettings,
    intake: Intake,
    service: QueryService,
    protocol: type[BoundedProtocol] = BoundedProtocol,
) -> None:
    """Serve HTTP until SIGINT or SIGTERM; requests that were begun are answered first.

    Args:
        listeners: sockets that listen, over TCP and the Unix socket of the home.
        settings: who may use the server, and how large a body may be.
        intake: takes what was posted.
        service: answers questions.
        protocol: the bounds of connections.
    """
    config = uvicorn.Config(
        create_app(settings, intake, service),
        http=protocol,
        ws="none",
        loop="asyncio",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        headers=[("X-Content-Type-Options", "nosniff")],
        h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_LAST_REQUESTS_S,
    )
    _permit_files(protocol)
    # At "warning" it reports requests that are not HTTP, which anybody can send.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    server = _Server(config)

    def end(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    # For signals before uvicorn handles them, and for those that it raises again when it has ended
    # in order: that is the end, and no failure.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    server.run(sockets=list(listeners))
