"""Health check of a container: `python -m trackrecord_door.health`.

Exit status 0: healthy. 1: unhealthy, with the reason on standard error.
"""

import http.client
import sys
from pathlib import Path

from trackrecord.errors import TrackrecordError, Unhealthy
from trackrecord.settings.daemon_settings import HttpSettings, load_daemon_settings
from trackrecord_capture.agents.door_address import DoorAddress, health_status, read_door

from .protocol.listening import reached

_TIMEOUT_S = 5.0


def check(settings: HttpSettings, home: Path) -> None:
    """Check that the front door of this machine answers.

    Args:
        settings: its address, and its token if it is set.
        home: where a front door with a token of its own says so.

    Raises:
        Unhealthy: it does not.
    """
    opened = read_door(home)
    token = settings.token or (opened.token if opened else "")
    address = DoorAddress(reached(settings.host), settings.port, token)
    try:
        status = health_status(address, _TIMEOUT_S)
    except (OSError, http.client.HTTPException) as error:
        message = f"the HTTP server does not answer ({type(error).__name__})"
        raise Unhealthy(message) from None
    if status != http.client.OK:
        message = f"the HTTP server answers with status {status}"
        raise Unhealthy(message)


def main() -> int:
    """Run the check; return the exit status."""
    try:
        settings = load_daemon_settings()
        check(settings.http, settings.home)
    except TrackrecordError as error:
        sys.stderr.write(f"unhealthy: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
