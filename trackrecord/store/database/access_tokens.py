"""Access tokens on record: their permissions, and digests instead of the tokens.

A token names its project and does not refer to it: it may be made before the project's first
outcome.
"""

from typing import Any

from sqlalchemy import Column, Connection, Double, Row, String, insert, select, update

from .metadata import columns, table

access_tokens = table(
    "access_tokens",
    Column("id", String(12), primary_key=True),
    # Of the whole token; the token itself is nowhere.
    Column("digest", String(64), nullable=False),
    # None: all projects.
    Column("project", String(128)),
    Column("permission", String(8), nullable=False),
    Column("name", String(128), nullable=False),
    Column("created_at", Double, nullable=False),
    # To the minute.
    *columns("last_used_at revoked_at", Double),
)


def add_token(connection: Connection, **values: str | float | None) -> Row[Any]:
    """Put a token on record, by what its columns hold, and return its row."""
    added = insert(access_tokens).values(**values).returning(*access_tokens.c)
    return connection.execute(added).one()


def read_tokens(connection: Connection) -> list[Row[tuple[str, ...]]]:
    """Return all tokens, newest first, those that were revoked included."""
    query = select(access_tokens).order_by(access_tokens.c.created_at.desc(), access_tokens.c.id)
    return list(connection.execute(query))


def end_token(connection: Connection, token_id: str, now: float) -> bool:
    """Revoke a token; answers whether it was not revoked before."""
    ended = connection.execute(
        update(access_tokens)
        .where(access_tokens.c.id == token_id, access_tokens.c.revoked_at.is_(None))
        .values(revoked_at=now)
    )
    return ended.rowcount > 0


def note_use(connection: Connection, token_id: str, now: float) -> None:
    """Note that a token was used."""
    connection.execute(
        update(access_tokens).where(access_tokens.c.id == token_id).values(last_used_at=now)
    )
