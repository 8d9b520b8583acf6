"""The access tokens on record, as a reader is shown them: never the tokens themselves."""

from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection

from trackrecord.access_tokens import Permission
from trackrecord.store.database.access_tokens import access_tokens, read_tokens
from trackrecord.times import iso

from .short_ids import whole_stored_id


@dataclass(frozen=True)
class KnownToken:
    """A token that is on record.

    Attributes:
        id: the public part of the token.
        name: what its maker called it; "" for nothing.
        project: the only project that its bearer may see; None for all.
        permission: how much its bearer may do there.
        created_at: when it was made, seconds since the epoch.
        last_used_at: when it was last used, to the minute; None: never.
        revoked_at: when it was revoked; None: it is valid.
        digest: what a token is compared with.
    """

    id: str
    name: str
    project: str | None
    permission: Permission
    created_at: float
    last_used_at: float | None
    revoked_at: float | None
    digest: str = field(repr=False)

    @property
    def is_valid(self) -> bool:
        """Return whether its bearer is let in."""
        return self.revoked_at is None

    def to_document(self) -> dict[str, Any]:
        """Return the token as a JSON object, without the digest."""
        document = asdict(self) | {"permission": self.permission.name.lower()}
        del document["digest"]
        moments = ("created_at", "last_used_at", "revoked_at")
        return document | {name: iso(document[name]) for name in moments}


def list_tokens(connection: Connection, *, project: str | None = None) -> list[KnownToken]:
    """Return the tokens on record, newest first, those that were revoked included.

    Args:
        connection: a reading transaction.
        project: only the tokens of this project; None for every token.
    """
    tokens = (
        KnownToken(
            id=row.id,
            name=row.name,
            project=row.project,
            permission=Permission[row.permission.upper()],
            created_at=row.created_at,
            last_used_at=row.last_used_at,
            revoked_at=row.revoked_at,
            digest=row.digest,
        )
        for row in read_tokens(connection)
    )
    return [token for token in tokens if project is None or token.project == project]


def token_id(connection: Connection, given: str) -> str:
    """Return the id of a token from its id, or the beginning of it.

    Raises:
        UnknownId: there is no such token; the message names the nearest id.
        AmbiguousId: several ids begin so.
    """
    return whole_stored_id(
        connection,
        access_tokens.c.id,
        access_tokens.c.id.is_not(None),
        given,
        f"there is no token {given!r}",
        hint="`trackrecord token list` shows the tokens",
    )
