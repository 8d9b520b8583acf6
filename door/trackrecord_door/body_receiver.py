"""From a request's body to the receiver: read, decompressed, decoded and taken, or refused."""

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request

from trackrecord_capture.otlp.malformed import Malformed
from trackrecord_capture.otlp.receiver import Full, Receiver

from .answers import RequestRefused
from .bodies import Bodies, content_encoding, decompressed
from .callers import Permission, check_permitted
from .intake import Intake

_Result = TypeVar("_Result")


class BodyReceiver:
    """Has the bodies of requests taken.

    Args:
        intake: what takes them.
        bodies: reads them.
    """

    def __init__(self, intake: Intake, bodies: Bodies) -> None:
        self._intake = intake
        self._bodies = bodies

    async def take(self, request: Request, work: Callable[[Receiver, bytes], _Result]) -> _Result:
        """Have a body taken; return the result.

        Args:
            request: its body, compressed or not.
            work: decodes the body and hands it to the receiver, on another thread.

        Raises:
            RequestRefused: the caller may not, the body is too large or malformed, or the receiver
                takes no more.
            starlette.requests.ClientDisconnect: the client has gone before it sent everything.
        """
        # A trace says itself which project its runs are of.
        check_permitted(request, Permission.WRITE, None)
        encoding = content_encoding(request)
        async with self._bodies.of(request) as body:

            def run(receiver: Receiver) -> _Result:
                return work(receiver, decompressed(body, encoding, self._bodies.max_bytes))

            try:
                return await self._intake.decode(run)
            except Malformed as error:
                raise RequestRefused(400, str(error)) from None
            except Full as error:
                wait = {"Retry-After": str(error.retry_after_s)}
                raise RequestRefused(503, "nothing more can be taken now", wait) from None
