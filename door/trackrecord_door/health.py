"""Health check of a container: `python -m trackrecord_door.health`.

Exit status 0: healthy. 1: unhealthy, with the reason on standard error.
"""

import http.client
import sys

from trackrecord.daemon_settings import load_daemon_settings
from trackrecord.errors import TrackrecordError, Unhealthy
from trackrecord.http_settings import HttpSettings
from trackrecord_capture.agents.door_address import DoorAddress, health_status

from .listening import reached

_TIMEOUT_S = 5.0


def check(settings: HttpSettings) -> None:
    """Check that the front door of this machine answers.

    Raises:
        Unhealthy: it does not.
    """
    address = DoorAddress(reached(settings.host), settings.port, settings.token or "")
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
        check(load_daemon_settings().http)
    except TrackrecordError as error:
        sys.stderr.write(f"unhealthy: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
