"""Errors of the HTTP API, in the one form of RFC 9457."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

API: Final = "/api/v1"
PROBLEM: Final = "application/problem+json"
_LONGEST_DETAIL: Final = 500


def is_of_api(request: Request) -> bool:
    """Return whether a request is one of the HTTP API's."""
    path: str = request.scope["path"]
    return path == API or path.startswith(API + "/")


def problem(
    status: int,
    detail: str,
    headers: Mapping[str, str] | None = None,
    *,
    errors: Sequence[Mapping[str, Any]] = (),
) -> Response:
    """Return an error.

    Args:
        status: of HTTP.
        detail: one line: what is wrong, and what to do.
        headers: further headers.
        errors: what is wrong with each of several parts of the request.
    """
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        # A lone surrogate, which JSON could not hold, may come from anywhere.
        "detail": detail[:_LONGEST_DETAIL].encode(errors="replace").decode(),
    }
    if errors:
        document["errors"] = errors
    return Response(msgspec.json.encode(document), status, headers=headers, media_type=PROBLEM)
