"""The tokens of the store, as the front door knows them: read at most a few times a second.

All valid tokens are read at once, and remembered for a few seconds, so that neither good nor bad
tokens cost a query each. A token that is not among them may have been made since, so that they are
read again before it is refused: at most five times a second, which also slows down whoever guesses.
The reading is done on a thread of its own: questions that take long do not delay it.
"""

import asyncio
import contextlib
import fcntl
import hmac
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trackrecord.errors import StoreUnavailable, TrackrecordError
from trackrecord.learning.text.times import believed_age
from trackrecord.process.folders import make_private_folder, open_private
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.wire.access_tokens import id_of_token, is_token_of, new_token, token_of_secret

from ..protocol.callers import Caller
from ..query_service import QueryService

if TYPE_CHECKING:
    from trackrecord.resources.operation.tokens import KnownToken


# How long a token that was revoked is accepted at most.
REMEMBERED_S: Final = 5.0
_BETWEEN_READS_S: Final = 0.2
_BETWEEN_NOTES_S: Final = 60.0
# Of whoever decides something.
_LONGEST_NAME: Final = 128


@dataclass(frozen=True)
class _Read:
    """The valid tokens by id, and when they began to be read."""

    begun_at: float = float("-inf")
    tokens: Mapping[str, "KnownToken"] = field(default_factory=dict)


class Tokens:
    """Finds the caller of a token.

    Args:
        service: has the store.
        remembered_s: how long a token that was revoked is accepted at most.
    """

    def __init__(self, service: QueryService, *, remembered_s: float = REMEMBERED_S) -> None:
        self._remembered_s = remembered_s
        self._floor = service
        self._thread = ThreadPoolExecutor(1, "tokens")
        self._reading = asyncio.Lock()
        self._read = _Read()
        self._tried_at = float("-inf")
        self._failure: tuple[float, StoreUnavailable] | None = None
        self._noted: dict[str, float] = {}
        self._notes: set[asyncio.Task[None]] = set()

    async def caller_of(self, token: str) -> Caller | None:
        """Return the caller of a token; None if it is unknown or revoked.

        Raises:
            StoreUnavailable: the database cannot be asked.
        """
        token_id = id_of_token(token)
        if token_id is None:
            return None
        asked_at = time.monotonic()
        if asked_at - self._read.begun_at >= self._remembered_s:
            await self._read_again(asked_at)
        known = self._read.tokens.get(token_id)
        if known is None:
            await self._read_again(asked_at)
            known = self._read.tokens.get(token_id)
        if known is None or not is_token_of(token, known.digest):
            return None
        self._note_used(known)
        name = f"token {' '.join(known.name.split()) or known.id}"[:_LONGEST_NAME]
        return Caller(known.project, known.permits, name)

    async def noted(self) -> None:
        """Wait until the uses of tokens so far are noted."""
        await asyncio.gather(*self._notes)

    def close(self) -> None:
        """Finish pending reads and writes."""
        self._thread.shutdown()

    async def _read_again(self, asked_at: float) -> None:
        """Read the tokens again, unless a reading began after they were requested."""
        async with self._reading:
            if self._read.begun_at >= asked_at:
                return
            if self._failure is not None and self._failure[0] >= asked_at:
                raise self._failure[1]
            await asyncio.sleep(self._tried_at + _BETWEEN_READS_S - time.monotonic())
            self._tried_at = time.monotonic()
            loop = asyncio.get_running_loop()
            try:
                self._read = await loop.run_in_executor(self._thread, self._read_now)
            except StoreUnavailable as error:
                self._failure = time.monotonic(), error
                raise

    def _read_now(self) -> _Read:
        from trackrecord.resources.operation.tokens import list_tokens
        from trackrecord.store.database.engine import reading

        begun_at = time.monotonic()
        with reading(self._floor.engine) as connection:
            known = list_tokens(connection)
        return _Read(begun_at, {token.id: token for token in known if token.is_valid})

    def _note_used(self, known: "KnownToken") -> None:
        """Note on the list, from time to time and in the background, that a token is used."""
        now = time.time()
        noted_at = max(known.last_used_at or 0, self._noted.get(known.id, 0))
        if believed_age(now - noted_at) < _BETWEEN_NOTES_S:
            return
        self._noted[known.id] = now
        task = asyncio.create_task(self._note(known.id))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _note(self, token_id: str) -> None:
        from trackrecord.resources.operation.tokens import note_token_used

        # Nobody waits for it, and the next use of the token is another occasion.
        with contextlib.suppress(TrackrecordError, RuntimeError):
            await self._floor.ask(lambda: note_token_used(self._floor.engine, token_id))


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
