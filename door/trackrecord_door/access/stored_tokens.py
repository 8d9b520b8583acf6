"""The tokens that a front door starts with: its own one, and whether the store has any."""

import fcntl
import hmac
from dataclasses import replace
from pathlib import Path
from typing import Final

from trackrecord.process.folders import make_private_folder, open_private
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.wire.access_tokens import new_token, token_of_secret

_FILE: Final = "http-token"
_LEAST_CHARS: Final = 32


def has_tokens(settings: DaemonSettings) -> bool:
    """Return whether there are tokens in the store that permit the use of the front door.

    Raises:
        StoreUnavailable: the database cannot be used.
    """
    from trackrecord.resources.operation.tokens import list_tokens
    from trackrecord.store.database.engine import reading
    from trackrecord.store.database.migrate import store_at

    url = settings.effective_database_url
    with (
        store_at(url, timeout_s=settings.database_timeout_s) as engine,
        reading(engine) as connection,
    ):
        return any(token.is_valid for token in list_tokens(connection))


def with_own_token(settings: DaemonSettings) -> DaemonSettings:
    """Return the settings with the token of this home, unless one is set or unnecessary.

    It is in a file that only the owner of the home can read, and stays the same, because programs
    that were started with it run on.

    Raises:
        OSError: the home cannot be written.
    """
    http = settings.http
    if http.token is not None or http.open_to_local_users:
        return settings
    return replace(settings, http=replace(http, token=_own_token(settings.home)))


def reporting_token(token: str | None) -> str:
    """Return the token that may only report traces, logs and scores, derived from the own one.

    Programs get this one, because they send it to whatever listens on the port.

    Args:
        token: the server's own token; None if it needs none.
    """
    if token is None:
        return ""
    return token_of_secret(hmac.digest(token.encode(), b"report", "sha256"))


def _own_token(home: Path) -> str:
    make_private_folder(home)
    with open_private(home / _FILE) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        token = file.read().strip()
        if len(token) < _LEAST_CHARS:  # none yet, or a part of one
            token = new_token()
            file.truncate(0)
            file.write(f"{token}\n")
        return token
