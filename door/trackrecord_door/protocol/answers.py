"""Statuses, and answers in the type of the request, as OTLP/HTTP asks for: protobuf or JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from trackrecord import errors

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


PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
# The codes of google.rpc.Status.
_CODES: Final[Mapping[int, int]] = {
    400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 408: 4, 413: 3, 415: 3, 500: 13, 503: 14,
}  # fmt: skip
_UNKNOWN: Final = 2
_LONGEST_MESSAGE: Final = 500


@dataclass(eq=False)
class RequestRefused(Exception):
    """Raised when a request is answered with an error.

    Attributes:
        status: the HTTP status.
        message: one line: what is wrong, and what to do.
        headers: further headers of the answer.
    """

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


def media_type(request: Request) -> str:
    """Return the type of a request's body, without its parameters; "" if it does not say."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def refused(request: Request, refusal: RequestRefused) -> Response:
    """Return an error: of the HTTP API as a problem, else as google.rpc.Status.

    The latter is in the request's type.
    """
    if is_of_api(request):
        return problem(refusal.status, refusal.message, refusal.headers)
    code = _CODES.get(refusal.status, _UNKNOWN)
    text = refusal.message[:_LONGEST_MESSAGE]
    if media_type(request) != PROTOBUF:
        answer = as_json({"code": code, "message": text}, refusal.status)
    else:
        from .protobuf_answers import status

        answer = Response(status(code, text), refusal.status, media_type=PROTOBUF)
    answer.headers.update(refusal.headers)
    return answer


def as_json(document: object, status: int = 200) -> Response:
    """Return a document as JSON."""
    return Response(msgspec.json.encode(document), status, media_type=JSON)


_STATUSES: Final[tuple[tuple[type[errors.TrackrecordError], int], ...]] = (
    (errors.UnknownId, 404),
    (errors.AmbiguousId, 409),
    (errors.DecisionRefused, 409),
    (errors.TransferRefused, 409),
    (errors.ServerUnavailable, 503),
    (errors.EndpointAway, 503),
    (errors.ExtraMissing, 501),
    (errors.SchemaTooNew, 503),
    (errors.SettingsError, 500),
)
_MISTAKE_OF_THE_CALLER: Final = 422


def status_of(error: errors.TrackrecordError) -> int:
    """Return the HTTP status for an error; its message is one line that may be shown."""
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return status
    return _MISTAKE_OF_THE_CALLER
