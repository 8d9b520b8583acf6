"""The front door as a process: `python -m trackrecord_door [DESCRIPTOR…]`.

With the descriptors of sockets that listen already, which `trackrecord up` hands down: they stay
open while the server is started again. There is one in the home, and one over TCP unless the port
is taken.
"""

import socket
import sys
from collections.abc import Sequence
from functools import partial

from trackrecord.errors import TrackrecordError
from trackrecord.process.logs import configure_logs
from trackrecord.settings.daemon_settings import load_daemon_settings

from .access.tokens import has_tokens, with_own_token
from .protocol.listening import listen, listen_in_home
from .query_service import QueryService
from .server import serve
from .services import create_intake


def main(arguments: Sequence[str]) -> int:
    """Serve until a signal; return the exit status."""
    try:
        settings = load_daemon_settings()
        configure_logs(settings.log_level)
        listeners = [socket.socket(fileno=int(each)) for each in arguments]
        if not listeners:
            listeners.append(listen_in_home(settings.home))
            listeners.append(listen(settings.http, partial(has_tokens, settings)))
        settings = with_own_token(settings)
        intake = create_intake(settings, *listeners[1:])
        serve(listeners, settings.http, intake, QueryService(settings))
    except TrackrecordError as error:
        sys.stderr.write(f"trackrecord: {error}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
