"""Access tokens: who may use the HTTP server, and how far; the tokens themselves are not kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self

from msgspec import Meta

from trackrecord.errors import InvalidRequest
from trackrecord.learning.text.project_names import checked_project
from trackrecord.resources.access.project_store import open_project, read_project
from trackrecord.resources.declaration.checks import IdOf, Limit
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from trackrecord.wire.access_tokens import Permission

MAX_NAME: Final = 128
TokenId = Annotated[str, Meta(min_length=1, max_length=1024), IdOf("token")]


class KnownToken(Answer, frozen=True, kw_only=True):
    """A token that is on record.

    Attributes:
        id: the public part of the token.
        name: what its maker called it; "" for nothing.
        project: the only project that its bearer may see; null for all.
        permission: how much its bearer may do there.
        created_at: when it was made.
        last_used_at: when it was last used, to the minute; null: never.
        revoked_at: when it was revoked; null: it is valid.
    """

    id: str
    name: str
    project: str | None
    permission: str
    created_at: Instant
    last_used_at: Instant | None
    revoked_at: Instant | None
    _digest: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    @classmethod
    def of(cls, row: Any, **more: Any) -> Self:  # noqa: ANN401 - a row; a subclass's fields
        """Return a token on record as an answer."""
        return cls.taken(row, _digest=row.digest, **more)

    @property
    def digest(self) -> str:
        """What a token is compared with."""
        return self._digest

    @property
    def is_valid(self) -> bool:
        """Whether its bearer is let in."""
        return self.revoked_at is None

    @property
    def permits(self) -> Permission:
        """Its permission, as permissions are compared."""
        from trackrecord.wire.access_tokens import Permission

        return Permission[self.permission.upper()]

    @property
    def rank(self) -> int:
        """The place of its permission among all."""
        return self.permits.value

    @property
    def name_or_none(self) -> str | None:
        """What its maker called it, if anything."""
        return self.name or None

    @property
    def projects(self) -> str:
        """Which projects its bearer may see, in words."""
        return "all projects" if self.project is None else f"project {self.project!r}"


class NewToken(KnownToken, frozen=True, kw_only=True):
    """A token that was made just now.

    Attributes:
        token: the token itself, which is kept nowhere.
    """

    _first: ClassVar = ("token",)
    token: str


class RevokedToken(KnownToken, frozen=True, kw_only=True):
    """A token that is revoked.

    Attributes:
        is_new: whether it was valid until now.
    """

    is_new: bool


def _said_of(revoked: RevokedToken) -> str:
    is_new = "revoked" if revoked.is_new else "was revoked before"
    return f"{revoked.id}: {is_new}; it was for {revoked.projects}"


TOKENS = Resource("token", "Create, list, revoke and show tokens for the HTTP server.")


@TOKENS.offers(
    None,
    command="list",
    scope="all",
    sorting=sorting_of(
        "tokens", "id", id="id", name="name_or_none", project="project", permission="rank",
        created="created_at", last_used="last_used_at", revoked="revoked_at",
    ),
    in_pages=True,
    columns=("id", "name", "project", "permission", "created_at", "last_used_at", "revoked_at"),
    about="name",
    secondary=("created_at", "last_used_at", "revoked_at", "permission"),
    cells={
        "name": lambda token: token.name_or_none,
        "project": lambda token: token.project or "all projects",
    },
    nothing="there are no tokens; `trackrecord token create` makes one",
    option_help={"project": "List only the tokens of this project."},
)  # fmt: skip
def tokens_on_record(*, limit: Limit | None = 100, project: str | None = None) -> list[KnownToken]:
    """List the tokens, newest first, those that were revoked included.

    Args:
        limit: the maximum number of tokens to return.
        project: only the tokens of this project; every token when not given.
    """
    with read_project(project) as it:
        return list_tokens(it.connection, project=project)[:limit]


@TOKENS.offers(None, command="revoke", scope="all", in_words=_said_of)
def end_token_given(token_id: TokenId) -> RevokedToken:
    """Revoke a token: within five seconds its bearer is refused.

    It stays on the list. Revoking it again changes nothing.

    Args:
        token_id: the token's id, the beginning of it, or the token itself.
    """
    from trackrecord.wire.access_tokens import id_of_token

    with open_project(None) as store:
        # Whoever has found a token somewhere has no other name for it.
        return revoke_token(store.engine, id_of_token(token_id) or token_id)


def list_tokens(connection: Connection, *, project: str | None = None) -> list[KnownToken]:
    """Return the tokens on record, newest first, those that were revoked included.

    Args:
        connection: a reading transaction.
        project: only the tokens of this project; None for every token.
    """
    from trackrecord.store.database.access_tokens import read_tokens

    tokens = map(KnownToken.of, read_tokens(connection))
    return [token for token in tokens if project is None or token.project == project]


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
    from trackrecord.store.database.access_tokens import add_token
    from trackrecord.store.database.engine import writing
    from trackrecord.wire.access_tokens import digest_of_token, id_of_token, new_token

    _check(project, name)
    token = new_token()
    made = id_of_token(token)
    assert made is not None  # noqa: S101 - it has just been given its form
    with writing(engine) as connection:
        row = add_token(
            connection, id=made, digest=digest_of_token(token), project=project,
            permission=permission.name.lower(), name=name, created_at=time.time(),
        )  # fmt: skip
        return NewToken.of(row, token=token)


def revoke_token(engine: Engine, given: str) -> RevokedToken:
    """Revoke a token; it stays on the list. Doing it again changes nothing.

    Args:
        engine: the store.
        given: the token's id, or the beginning of it.

    Raises:
        UnknownId: there is no such token; the message names the nearest id.
        AmbiguousId: several ids begin so.
    """
    from trackrecord.resources.access.short_ids import whole_stored_id
    from trackrecord.store.database.access_tokens import access_tokens, end_token
    from trackrecord.store.database.engine import writing

    with writing(engine) as connection:
        found = whole_stored_id(
            connection,
            access_tokens.c.id,
            access_tokens.c.id.is_not(None),
            given,
            f"there is no token {given!r}",
            hint="`trackrecord token list` shows the tokens",
        )
        is_new = end_token(connection, found, time.time())
        return RevokedToken.of(_row(connection, found), is_new=is_new)


def note_token_used(engine: Engine, used: str) -> None:
    """Note that the token of an id was used just now."""
    from trackrecord.store.database.access_tokens import note_use
    from trackrecord.store.database.engine import writing

    with writing(engine) as connection:
        note_use(connection, used, time.time())


def _row(connection: Connection, wanted: str) -> Any:  # noqa: ANN401 - a row
    from trackrecord.store.database.access_tokens import read_tokens

    return next(row for row in read_tokens(connection) if row.id == wanted)


def _check(project: str | None, name: str) -> None:
    if project is not None:
        try:
            checked_project(project)
        except ValueError as error:
            raise InvalidRequest(str(error)) from None
    if len(name) > MAX_NAME or "\0" in name:
        message = f"a token's name has at most {MAX_NAME} characters and no NUL"
        raise InvalidRequest(message)
