"""Scores as Langfuse's clients post them; each becomes the standard event of an evaluation.

With Langfuse's path for traces, see `otlp_routes`, this makes
`LANGFUSE_BASE_URL=http://127.0.0.1:4318` all that a program needs.
"""

from datetime import datetime
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trackrecord_capture.otlp.ids import SPAN_ID_DIGITS, TRACE_ID_DIGITS, usable_id
from trackrecord_capture.otlp.receiver import Receiver
from trackrecord_capture.otlp.span import Attributes, LogRecord

from .answers import JSON, Refused, as_json, media_type
from .intake import take_logs
from .posted import Posted

_EVENT: Final = "gen_ai.evaluation.result"
_SESSION: Final = "session.id"
_NS: Final = 10**9


class _Score(msgspec.Struct, rename="camel"):
    name: str
    value: float | str | bool
    id: str | None = None
    trace_id: str | None = None
    observation_id: str | None = None
    session_id: str | None = None
    data_type: str | None = None
    comment: str | None = None
    timestamp: datetime | None = None


class LangfuseRoutes:
    """The route of Langfuse's scores.

    Args:
        posted: reads what was posted, and has it taken.
    """

    def __init__(self, posted: Posted) -> None:
        self._posted = posted

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route("/api/public/scores", self._scores, methods=["POST"])]

    async def _scores(self, request: Request) -> Response:
        if media_type(request) != JSON:
            raise Refused(415, f"send {JSON}")
        return await self._posted.take(request, _taken)


def _taken(receiver: Receiver, body: bytes) -> Response:
    """Take one score or a list of them, and answer as Langfuse does."""
    given = _decoded(body)
    scores = given if isinstance(given, list) else [given]
    events = map(_event, scores)
    usable = [event for event in events if event.trace_id or _SESSION in event.attributes]
    rejected = len(scores) - len(usable) + take_logs(receiver, iter(usable))
    if isinstance(given, _Score):
        return as_json({"id": given.id or ""})
    if not rejected:
        return as_json({"message": "Accepted"}, 202)
    errors = [{"message": "the score names neither a trace nor a session"}] * rejected
    counts = {"accepted": len(scores) - rejected, "rejected": rejected, "errors": errors}
    return as_json(counts, 207)


def _decoded(body: bytes) -> _Score | list[_Score]:
    try:
        return msgspec.json.decode(body, type=_Score | list[_Score])
    except msgspec.ValidationError as error:
        message = f"the body is not a score or a list of scores: {error}"
        raise Refused(400, message) from None
    except (ValueError, RecursionError):
        raise Refused(400, "the body is not JSON in UTF-8") from None


def _event(score: _Score) -> LogRecord:
    """Return a score as the log record that OpenTelemetry has for evaluations."""
    attributes: Attributes = {"gen_ai.evaluation.name": score.name}
    attributes |= _value(score)
    if score.comment:
        attributes["gen_ai.evaluation.explanation"] = score.comment
    if score.session_id:
        attributes[_SESSION] = score.session_id
    if score.id:
        attributes["langfuse.score.id"] = score.id
    return LogRecord(
        at_ns=int(score.timestamp.timestamp() * _NS) if score.timestamp is not None else 0,
        trace_id=usable_id((score.trace_id or "").replace("-", ""), TRACE_ID_DIGITS),
        span_id=usable_id(score.observation_id or "", SPAN_ID_DIGITS),
        event_name=_EVENT,
        body=None,
        severity=0,
        attributes=attributes,
        scope="langfuse",
        resource={},
    )


def _value(score: _Score) -> dict[str, Any]:
    if isinstance(score.value, str):
        return {"gen_ai.evaluation.score.label": score.value}
    value = {"gen_ai.evaluation.score.value": float(score.value)}
    if isinstance(score.value, bool) or score.data_type == "BOOLEAN":
        return {**value, "gen_ai.evaluation.score.label": "pass" if score.value else "fail"}
    return value
