"""The route that shows that the front door is up."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..protocol.answers import as_json


def routes() -> list[Route]:
    """Return the route of the health check."""
    return [Route("/health", _health, methods=["GET"])]


async def _health(_request: Request) -> Response:
    return as_json({"status": "ok"})
