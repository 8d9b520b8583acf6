"""Routes for agents' hooks: requests are queued and answered at once."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trackrecord_capture.live.notes import TooManyNotes

from ..protocol.answers import JSON, RequestRefused, media_type
from ..protocol.bodies import Bodies
from ..protocol.callers import Permission, check_permitted
from .intake import Intake


class HookRoutes:
    """The route of hooks.

    Args:
        intake: takes what was posted.
        bodies: reads what was posted.
    """

    def __init__(self, intake: Intake, bodies: Bodies) -> None:
        self._intake = intake
        self._bodies = bodies

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route("/hooks/{agent}", self._hook, methods=["POST"])]

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
