"""Tokens of the store in place of the setting's: what a front door needs to start with them."""

import secrets
from dataclasses import replace

from trackrecord.daemon_settings import DaemonSettings

from .listening import is_loopback

_BYTES = 32


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
    """Return the settings with a token for this process where one is needed and none is set.

    The hooks of agents on this machine find it in a file that only the owner of the home can read.
    """
    http = settings.http
    if http.token is not None or is_loopback(http.host):
        return settings
    return replace(settings, http=replace(http, token=secrets.token_urlsafe(_BYTES)))
