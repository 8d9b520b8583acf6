"""The server of the front door, in the process that calls it."""

import logging
import signal
import socket

import uvicorn

from trackrecord.http_settings import HttpSettings

from .application import create_app
from .connections import BoundedProtocol
from .intake import Intake

# A head beyond this is refused.
_MAX_HEAD_BYTES = 64 * 1024
# Between two requests of one connection. Exporters post every five seconds.
_KEEP_ALIVE_S = 15
# `up` waits for 30 seconds, and the receiver needs some time for itself.
_LAST_REQUESTS_S = 10


def serve(
    listener: socket.socket,
    settings: HttpSettings,
    intake: Intake,
    protocol: type[BoundedProtocol] = BoundedProtocol,
) -> None:
    """Serve HTTP until SIGINT or SIGTERM; requests that were begun are answered first.

    Args:
        listener: a socket that listens.
        settings: who may use the server, and how large a body may be.
        intake: takes what was posted.
        protocol: the bounds of connections.
    """
    config = uvicorn.Config(
        create_app(settings, intake),
        http=protocol,
        ws="none",
        loop="asyncio",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_LAST_REQUESTS_S,
    )
    # At "warning" it reports requests that are not HTTP, which anybody can send.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    # uvicorn raises the signal again when it has ended in order; that is the end, and no failure.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    uvicorn.Server(config).run(sockets=[listener])
