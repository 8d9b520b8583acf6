"""`POST /outcomes`: one outcome, a list, or JSON Lines, with Redis or the spool when answered."""

from io import BytesIO
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from trackrecord.errors import ServerUnavailable
from trackrecord_producers.delivery.stream_and_spool_format import spool_line

from ..protocol.answers import JSON, RequestRefused, media_type, problem
from ..protocol.bodies import Bodies, content_encoding, decompressed
from ..protocol.callers import Caller, Permission, caller_of, check_permitted
from ..query_service import QueryService
from .reading import checked_project_of

TYPES: Final = (JSON, "application/jsonl", "application/x-ndjson", "application/json-lines")
_UNPROCESSABLE: Final = 422
_ACCEPTED: Final = 202
_MOST_BAD: Final = 100
_MOST_OUTCOMES: Final = 10_000
_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class IntakeAnswer(NamedTuple):
    """The result of posting outcomes.

    Attributes:
        outcome_ids: of the outcomes that are with Redis or in the spool, in order.
        bad: what was not an outcome, at most a hundred of them.
        bad_count: how many there were.
    """

    outcome_ids: list[str]
    bad: list[dict[str, str]]
    bad_count: int


class OutcomeIntake:
    """Takes the outcomes that are posted.

    Args:
        service: has Redis and the spool.
        bodies: reads what was posted.
    """

    def __init__(self, service: QueryService, bodies: Bodies) -> None:
        self._floor = service
        self._bodies = bodies

    async def __call__(self, request: Request) -> Response:
        """Take outcomes; one that is not in order keeps no other one back.

        Raises:
            RequestRefused: the caller may not, or the body is malformed.
            ServerUnavailable: neither Redis nor the spool takes them.
        """
        named = request.query_params.get("project")
        caller = caller_of(request)
        project = caller.project if named is None else checked_project_of(named)
        check_permitted(request, Permission.WRITE, project or caller.project)
        _check_parameters(request)
        if media_type(request) not in TYPES:
            raise RequestRefused(415, f"send {JSON} or {TYPES[1]}")
        encoding = content_encoding(request)
        async with self._bodies.of(request) as data:
            body = decompressed(data, encoding, self._bodies.max_bytes)
            taken = await self._floor.run(self._take, body, project, caller)
        if not taken.outcome_ids:
            return _nothing_taken(taken)
        document = {**taken._asdict(), "taken": len(taken.outcome_ids)}
        return Response(msgspec.json.encode(document), _ACCEPTED, media_type=JSON)

    def _take(self, body: bytes, project: str | None, caller: Caller) -> IntakeAnswer:
        from trackrecord_producers.importers.jsonl import BadLine, read_outcomes
        from trackrecord_producers.publishing.checked_outcomes import CheckedOutcome, given_outcomes

        settings = self._floor.settings
        most = settings.max_body_bytes
        records = read_outcomes(BytesIO(body), max_bytes=most)
        given = given_outcomes(records, project=project or settings.project, max_bytes=most)
        good: list[CheckedOutcome] = []
        bad: list[dict[str, str]] = []
        count = 0
        for each in islice(given, _MOST_OUTCOMES + 1):
            reason = (
                each.reason if isinstance(each, BadLine) else _not_of(each.project, caller.project)
            )
            if reason is None and not isinstance(each, BadLine):
                good.append(each)
                continue
            count += 1
            if len(bad) < _MOST_BAD:
                bad.append({"place": each.place, "reason": reason or ""})
        if len(good) + count > _MOST_OUTCOMES:
            message = f"there are more than {_MOST_OUTCOMES} outcomes; send smaller batches"
            raise RequestRefused(413, message)
        self._deliver([_signed(each.body, caller) for each in good])
        return IntakeAnswer([each.outcome_id for each in good], bad, count)

    def _deliver(self, bodies: list[bytes]) -> None:
        """Bring outcomes to Redis, or to the spool while it is away.

        Raises:
            ServerUnavailable: neither takes them.
        """
        from trackrecord.wire.redacted_body import redacted_body
        from trackrecord_producers.delivery.stream_writer import send

        if not bodies:
            return
        bodies = list(map(redacted_body, bodies))
        try:
            settings = self._floor.settings
            send(
                self._floor.client,
                settings.keys,
                bodies,
                replicas=settings.redis_replicas,
                are_safe=True,
            )
        except ServerUnavailable:
            # What Redis took before comes a second time then, and changes nothing.
            if not self._spool(bodies):
                raise

    def _spool(self, bodies: list[bytes]) -> bool:
        from trackrecord_producers.spool.files import SpoolWriter

        settings = self._floor.settings
        writer = SpoolWriter(settings.spool_dir, settings.spool_max_bytes)
        try:
            appended = writer.append([spool_line("outcome", body, is_safe=True) for body in bodies])
        finally:
            writer.close()
        return appended.written == len(bodies)


def _signed(body: bytes, caller: Caller) -> bytes:
    """Return a body with the token that brought it, overriding its own claim.

    The user of the server may bring what others reported.
    """
    if caller.name is None:
        return body
    fields = _fields.decode(body) | {"reporter": msgspec.Raw(msgspec.json.encode(caller.name))}
    return msgspec.json.encode(fields)


def _not_of(project: str, only: str | None) -> str | None:
    """Return the reason for refusing an outcome of a project; None to accept it."""
    if only is None or project == only:
        return None
    return f"this token is for the project {only!r} alone"


def _check_parameters(request: Request) -> None:
    if unknown := [name for name in request.query_params if name != "project"]:
        message = f"there is no parameter {unknown[0][:100]!a}; there is project"
        raise RequestRefused(400, message)


def _nothing_taken(taken: IntakeAnswer) -> Response:
    if not taken.bad_count:
        return problem(_UNPROCESSABLE, "the body holds no outcome")
    first = taken.bad[0]
    message = f"no outcome is in order; {first['place']}: {first['reason']}"
    return problem(_UNPROCESSABLE, message, errors=taken.bad)


def document_of_taken() -> dict[str, Any]:
    """Return the schema of an answer."""
    return {
        "type": "object",
        "required": ["outcome_ids", "taken", "bad", "bad_count"],
        "additionalProperties": False,
        "properties": {
            "outcome_ids": {"type": "array", "items": {"type": "string"}},
            "taken": {"type": "integer"},
            "bad": {"type": "array", "items": {"$ref": "#/components/schemas/BadLine"}},
            "bad_count": {"type": "integer"},
        },
    }
