"""The front door as a process: `python -m trackrecord_door [DESCRIPTOR]`.

With the descriptor of a socket that listens already, which `trackrecord up` hands down: it stays
open while the server is started again.
"""

import socket
import sys
from collections.abc import Sequence
from functools import partial

from trackrecord.daemon_settings import load_daemon_settings
from trackrecord.errors import TrackrecordError
from trackrecord.logs import configure_logs

from .floor import Floor
from .listening import listen
from .server import serve
from .services import create_intake
from .stored_tokens import has_tokens, with_own_token


def main(arguments: Sequence[str]) -> int:
    """Serve until a signal; return the exit status."""
    try:
        settings = load_daemon_settings()
        configure_logs(settings.log_level)
        if arguments:
            listener = socket.socket(fileno=int(arguments[0]))
        else:
            listener = listen(settings.http, partial(has_tokens, settings))
        settings = with_own_token(settings)
        serve(listener, settings.http, create_intake(settings, listener), Floor(settings))
    except TrackrecordError as error:
        sys.stderr.write(f"trackrecord: {error}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
