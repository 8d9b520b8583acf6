"""OTLP over HTTP: traces and logs are taken, metrics are accepted and ignored."""

from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trackrecord_capture.otlp.decoding import Encoding, decode_logs, decode_spans
from trackrecord_capture.otlp.receiver import Receiver

from .answers import JSON, PROTOBUF, RequestRefused, accepted, media_type
from .bodies import Bodies
from .body_receiver import BodyReceiver
from .callers import Permission, check_permitted
from .intake import take_logs, take_spans

_ENCODINGS: Final[dict[str, Encoding]] = {PROTOBUF: "protobuf", JSON: "json"}
_WHY_REJECTED: Final = "malformed, without a valid trace id and span id, or not usable"

Work = Callable[[Receiver, bytes, Encoding], int]


class OtlpRoutes:
    """The routes of OTLP.

    Args:
        posted: reads what was posted, and has it taken.
        bodies: reads what is ignored.
    """

    def __init__(self, posted: BodyReceiver, bodies: Bodies) -> None:
        self._posted = posted
        self._bodies = bodies

    def routes(self) -> list[Route]:
        """Return the routes, Langfuse's path for traces included."""
        return [
            Route("/v1/traces", self._traces, methods=["POST"]),
            Route("/api/public/otel/v1/traces", self._traces, methods=["POST"]),
            Route("/v1/logs", self._logs, methods=["POST"]),
            Route("/v1/metrics", self._metrics, methods=["POST"]),
        ]

    async def _traces(self, request: Request) -> Response:
        rejected = await self._take(request, _spans_of)
        message = ExportTraceServiceResponse()
        if rejected:
            message.partial_success.rejected_spans = rejected
            message.partial_success.error_message = f"{rejected} spans {_WHY_REJECTED}"
        return accepted(request, message, _partial("rejectedSpans", rejected, "spans"))

    async def _logs(self, request: Request) -> Response:
        rejected = await self._take(request, _logs_of)
        message = ExportLogsServiceResponse()
        if rejected:
            message.partial_success.rejected_log_records = rejected
            message.partial_success.error_message = f"{rejected} log records {_WHY_REJECTED}"
        return accepted(request, message, _partial("rejectedLogRecords", rejected, "log records"))

    async def _metrics(self, request: Request) -> Response:
        check_permitted(request, Permission.WRITE, None)
        _encoding_of(request)
        await self._bodies.discard(request)
        # The empty message is the same whichever response it is.
        nothing: Message = ExportTraceServiceResponse()
        return accepted(request, nothing, {})

    async def _take(self, request: Request, work: Work) -> int:
        """Have a request's body taken; return how many items were rejected."""
        encoding = _encoding_of(request)
        return await self._posted.take(
            request, lambda receiver, body: work(receiver, body, encoding)
        )


def _spans_of(receiver: Receiver, body: bytes, encoding: Encoding) -> int:
    return take_spans(receiver, decode_spans(body, encoding))


def _logs_of(receiver: Receiver, body: bytes, encoding: Encoding) -> int:
    return take_logs(receiver, decode_logs(body, encoding))


def _encoding_of(request: Request) -> Encoding:
    encoding = _ENCODINGS.get(media_type(request))
    if encoding is None:
        raise RequestRefused(415, f"send {PROTOBUF} or {JSON}")
    return encoding


def _partial(name: str, rejected: int, things: str) -> dict[str, Any]:
    if not rejected:
        return {}
    # Integers of 64 bits are texts in JSON.
    why = f"{rejected} {things} {_WHY_REJECTED}"
    return {"partialSuccess": {name: str(rejected), "errorMessage": why}}
