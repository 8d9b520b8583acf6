"""OTLP and notes of hooks over HTTP: traces and logs are taken, metrics are ignored."""

from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trackrecord_capture.live.notes import TooManyNotes
from trackrecord_capture.otlp.encodings.decoding import Encoding, decode_logs, decode_spans
from trackrecord_capture.otlp.encodings.receiver import Full, Receiver
from trackrecord_capture.otlp.encodings.span import Malformed

from ..protocol.answers import JSON, PROTOBUF, RequestRefused, as_json, media_type
from ..protocol.bodies import Bodies, content_encoding, decompressed
from ..protocol.callers import Permission, check_permitted
from .intake import Intake, take_items

_ENCODINGS: Final[dict[str, Encoding]] = {PROTOBUF: "protobuf", JSON: "json"}
_WHY_REJECTED: Final = "malformed, without a valid trace id and span id, or not usable"

Work = Callable[[Receiver, bytes, Encoding], int]


class IngestRoutes:
    """The routes of OTLP and of hooks.

    Args:
        intake: takes what was posted.
        bodies: reads it.
    """

    def __init__(self, intake: Intake, bodies: Bodies) -> None:
        self._intake = intake
        self._bodies = bodies

    def routes(self) -> list[Route]:
        """Return the routes."""
        answers = {
            "/v1/traces": self._traces,
            "/v1/logs": self._logs,
            "/v1/metrics": self._metrics,
            "/hooks/{agent}": self._hook,
        }
        return [Route(path, answer, methods=["POST"]) for path, answer in answers.items()]

    async def _hook(self, request: Request) -> Response:
        # An agent's folder says which project its runs are of.
        check_permitted(request, Permission.WRITE, None)
        agent = request.path_params["agent"]
        if not self._intake.knows(agent):
            raise RequestRefused(404, "there is no such agent")
        # A form of a web page cannot send this type without asking first.
        if media_type(request) != JSON:
            raise RequestRefused(415, f"send {JSON}")
        async with self._bodies.of(request) as body:
            try:
                answer = await self._intake.hook(agent, body)
            except TooManyNotes:
                message = "too many notes of hooks wait to be read; try again"
                raise RequestRefused(503, message, {"Retry-After": "5"}) from None
        return Response(status_code=204) if answer is None else Response(answer, media_type=JSON)

    async def _traces(self, request: Request) -> Response:
        rejected = await self._take(request, _take_spans)
        return _accepted(request, "rejectedSpans", rejected, "spans")

    async def _logs(self, request: Request) -> Response:
        rejected = await self._take(request, _take_logs)
        return _accepted(request, "rejectedLogRecords", rejected, "log records")

    async def _metrics(self, request: Request) -> Response:
        check_permitted(request, Permission.WRITE, None)
        _encoding_of(request)
        await self._bodies.discard(request)
        return _accepted(request, "rejectedDataPoints", 0, "data points")

    async def _take(self, request: Request, work: Work) -> int:
        """Have a request's body taken; return how many items were rejected.

        Args:
            request: its body, compressed or not.
            work: decodes the body and hands it to the receiver, on another thread.

        Raises:
            RequestRefused: the caller may not, the body is too large or malformed, or the receiver
                takes no more.
            starlette.requests.ClientDisconnect: the client has gone before it sent everything.
        """
        form = _encoding_of(request)
        # A trace says itself which project its runs are of.
        check_permitted(request, Permission.WRITE, None)
        encoding = content_encoding(request)
        async with self._bodies.of(request) as body:

            def run(receiver: Receiver) -> int:
                return work(receiver, decompressed(body, encoding, self._bodies.max_bytes), form)

            try:
                return await self._intake.decode(run)
            except Malformed as error:
                raise RequestRefused(400, str(error)) from None
            except Full as error:
                wait = {"Retry-After": str(error.retry_after_s)}
                raise RequestRefused(503, "nothing more can be taken now", wait) from None


def _take_spans(receiver: Receiver, body: bytes, encoding: Encoding) -> int:
    return take_items(receiver.spans, decode_spans(body, encoding))


def _take_logs(receiver: Receiver, body: bytes, encoding: Encoding) -> int:
    return take_items(receiver.logs, decode_logs(body, encoding))


def _encoding_of(request: Request) -> Encoding:
    encoding = _ENCODINGS.get(media_type(request))
    if encoding is None:
        raise RequestRefused(415, f"send {PROTOBUF} or {JSON}")
    return encoding


def _accepted(request: Request, name: str, rejected: int, things: str) -> Response:
    """Return 200 with the answer in the request's type.

    Args:
        request: what is answered.
        name: of the number of those that were rejected, in OTLP's JSON.
        rejected: how many were.
        things: what they are, in the plural.
    """
    why = f"{rejected} {things} {_WHY_REJECTED}" if rejected else ""
    if media_type(request) == PROTOBUF:
        from ..protocol.protobuf_answers import acceptance

        return Response(acceptance(rejected, why), media_type=PROTOBUF)
    # Integers of 64 bits are texts in JSON.
    partial = {"partialSuccess": {name: str(rejected), "errorMessage": why}}
    return as_json(partial if rejected else {})
