"""URLs with the credential of the user who runs a front door, whose client most tests are."""

from pathlib import Path

from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord_door.access.tokens import with_own_token


def token_of(home: Path) -> str:
    """The own token of the front door of a home, made now if that has not started yet."""
    token = with_own_token(DaemonSettings(home=home)).http.token
    assert token is not None
    return token


def of_its_user(url: str, home: Path) -> str:
    """The URL of the front door of a home, with its own token as the password."""
    return url.replace("//", f"//me:{token_of(home)}@", 1)
