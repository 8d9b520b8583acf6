"""Making and revoking access tokens."""

import time
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Engine

from trackrecord.errors import InvalidRequest
from trackrecord.learning.text.project_names import checked_project
from trackrecord.queries.tokens import KnownToken, list_tokens, token_id
from trackrecord.store.database.access_tokens import add_token, end_token, note_use
from trackrecord.store.database.engine import reading, writing
from trackrecord.wire.access_tokens import Permission, digest_of_token, id_of_token, new_token

MAX_NAME: Final = 128


@dataclass(frozen=True)
class NewToken:
    """A token that was made just now.

    Attributes:
        token: the token itself, which is kept nowhere.
        known: what is on record of it.
    """

    token: str = field(repr=False)
    known: KnownToken

    def to_document(self) -> dict[str, Any]:
        """Return the token as a JSON object."""
        return {"token": self.token, **self.known.to_document()}


@dataclass(frozen=True)
class RevokedToken:
    """A token that is revoked.

    Attributes:
        known: what is on record of it.
        is_new: whether it was valid until now.
    """

    known: KnownToken
    is_new: bool

    def to_document(self) -> dict[str, Any]:
        """Return the token as a JSON object."""
        return {**self.known.to_document(), "is_new": self.is_new}


def create_token(
    engine: Engine, *, project: str | None, permission: Permission, name: str = ""
) -> NewToken:
    """Make a token for the HTTP server.

    Args:
        engine: the store.
        project: the only project that its bearer may see, which need not be on record yet; None for
            all projects.
        permission: how much its bearer may do there.
        name: what people call it, at most 128 characters.

    Raises:
        InvalidRequest: the project or the name is not usable.
    """
    _check(project, name)
    token = new_token()
    made = id_of_token(token)
    assert made is not None  # noqa: S101 - it has just been given its form
    with writing(engine) as connection:
        add_token(
            connection,
            made,
            digest_of_token(token),
            project=project,
            permission=permission.name.lower(),
            name=name,
            now=time.time(),
        )
    return NewToken(token, _known(engine, made))


def revoke_token(engine: Engine, given: str) -> RevokedToken:
    """Revoke a token; it stays on the list. Doing it again changes nothing.

    Args:
        engine: the store.
        given: the token's id, or the beginning of it.

    Raises:
        UnknownId: there is no such token; the message names the nearest id.
        AmbiguousId: several ids begin so.
    """
    with writing(engine) as connection:
        found = token_id(connection, given)
        is_new = end_token(connection, found, time.time())
    return RevokedToken(_known(engine, found), is_new)


def note_token_used(engine: Engine, used: str) -> None:
    """Note that the token of an id was used just now."""
    with writing(engine) as connection:
        note_use(connection, used, time.time())


def _check(project: str | None, name: str) -> None:
    if project is not None:
        try:
            checked_project(project)
        except ValueError as error:
            raise InvalidRequest(str(error)) from None
    if len(name) > MAX_NAME or "\0" in name:
        message = f"a token's name has at most {MAX_NAME} characters and no NUL"
        raise InvalidRequest(message)


def _known(engine: Engine, wanted: str) -> KnownToken:
    with reading(engine) as connection:
        return next(token for token in list_tokens(connection) if token.id == wanted)
