"""Tokens of the store in place of the setting's: what a front door needs to start with them."""

import fcntl
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Final

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.folders import make_private_folder, open_private

from .listening import is_loopback

_FILE: Final = "http-token"
_BYTES: Final = 32


def has_tokens(settings: DaemonSettings) -> bool:
    """Return whether there are tokens in the store that permit the use of the front door.

    Raises:
        StoreUnavailable: the database cannot be used.
    """
    from trackrecord.queries.tokens import list_tokens
    from trackrecord.store.database.engine import connect_store, reading
    from trackrecord.store.database.migrate import migrate

    engine = connect_store(settings.effective_database_url, timeout_s=settings.database_timeout_s)
    try:
        migrate(engine)
        with reading(engine) as connection:
            return any(token.is_valid for token in list_tokens(connection))
    finally:
        engine.dispose()


def with_own_token(settings: DaemonSettings) -> DaemonSettings:
    """Return the settings with a token of this home where one is needed and none is set.

    Agents on this machine are told of it, by way of a file that only the owner of the home can
    read. It stays the same, because programs that were started with it run on.

    Raises:
        OSError: the home cannot be written.
    """
    http = settings.http
    if http.token is not None or is_loopback(http.host):
        return settings
    return replace(settings, http=replace(http, token=_own_token(settings.home)))


def _own_token(home: Path) -> str:
    make_private_folder(home)
    with open_private(home / _FILE) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        token = file.read().strip()
        if len(token) < _BYTES:  # none yet, or a part of one
            token = secrets.token_urlsafe(_BYTES)
            file.truncate(0)
            file.write(f"{token}\n")
        return token
