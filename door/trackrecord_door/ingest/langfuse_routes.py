"""Scores as Langfuse's clients post them.

With Langfuse's path for traces, see `otlp_routes`, this makes
`LANGFUSE_BASE_URL=http://127.0.0.1:4318` all that a program needs.
"""

from datetime import datetime
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trackrecord.wire.storable import decoded
from trackrecord_capture.otlp.encodings.receiver import Receiver

from ..protocol.answers import JSON, RequestRefused, as_json, media_type
from .body_receiver import BodyReceiver
from .intake import take_scores


class _Score(msgspec.Struct, rename="camel"):
    # Read by their names in JSON, see `score_facts`.
    name: str
    value: float | str | bool
    id: str | None = None
    trace_id: str | None = None
    observation_id: str | None = None
    session_id: str | None = None
    data_type: str | None = None
    comment: str | None = None
    timestamp: datetime | None = None


_scores: "Final[msgspec.json.Decoder[_Score | list[_Score]]]" = msgspec.json.Decoder(
    _Score | list[_Score]
)


class LangfuseRoutes:
    """The route of Langfuse's scores.

    Args:
        posted: reads what was posted, and has it taken.
    """

    def __init__(self, posted: BodyReceiver) -> None:
        self._posted = posted

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route("/api/public/scores", self._scores, methods=["POST"])]

    async def _scores(self, request: Request) -> Response:
        if media_type(request) != JSON:
            raise RequestRefused(415, f"send {JSON}")
        return await self._posted.take(request, _taken)


def _taken(receiver: Receiver, body: bytes) -> Response:
    """Take one score or a list of them, and answer as Langfuse does."""
    given = _decoded(body)
    scores = given if isinstance(given, list) else [given]
    rejected = take_scores(receiver, map(msgspec.to_builtins, scores))
    if isinstance(given, _Score):
        return as_json({"id": given.id or ""})
    if not rejected:
        return as_json({"message": "Accepted"}, 202)
    errors = [{"message": "the score names neither a trace nor a session"}] * rejected
    counts = {"accepted": len(scores) - rejected, "rejected": rejected, "errors": errors}
    return as_json(counts, 207)


def _decoded(body: bytes) -> _Score | list[_Score]:
    try:
        return decoded(body, _scores)
    except msgspec.ValidationError as error:
        message = f"the body is not a score or a list of scores: {error}"
        raise RequestRefused(400, message) from None
    except (ValueError, RecursionError):
        raise RequestRefused(400, "the body is not JSON in UTF-8") from None
