"""Callers: which project a request may see, and how much it may do there."""

from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request

from trackrecord.wire.access_tokens import Permission

from .answers import RequestRefused

__all__ = ["OWNER", "REPORTER", "Caller", "Permission", "caller_of", "check_permitted"]

_FORBIDDEN: Final = 403


@dataclass(frozen=True)
class Caller:
    """The bearer of a request.

    Attributes:
        project: the only project that the caller may see; None for all.
        permission: how much the caller may do there.
        name: the name of whoever decides something without giving one: that of the token; None for
            the user of the server.
    """

    project: str | None
    permission: Permission
    name: str | None = field(default=None, compare=False)


# The user who runs the server, and whoever knows its own token.
OWNER: Final = Caller(None, Permission.ADMIN)
# A program of that user, which reports what it traces; see `Access`.
REPORTER: Final = Caller(None, Permission.WRITE)


def caller_of(request: Request) -> Caller:
    """Return the caller of a request that was let in."""
    caller = request.scope["caller"]
    assert isinstance(caller, Caller)  # noqa: S101 - `Access` sets it
    return caller


def check_permitted(request: Request, permission: Permission, project: str | None) -> None:
    """Check that a request's caller may do something.

    Args:
        request: the request.
        permission: the permission that is needed.
        project: the project that it concerns; None if it concerns all of them, or the server.

    Raises:
        RequestRefused: the caller may not.
    """
    caller = caller_of(request)
    if caller.project is not None and caller.project != project:
        message = f"this token is for the project {caller.project!r} alone"
        if project is None:
            message += "; this needs a token for all projects"
        raise RequestRefused(_FORBIDDEN, message)
    if caller.permission < permission:
        message = (
            f"this token may {caller.permission.name.lower()}; "
            f"this needs a token that may {permission.name.lower()}"
        )
        raise RequestRefused(_FORBIDDEN, message)
