"""The routes of this surface."""

from starlette.routing import BaseRoute

from trackrecord_door.query_service import QueryService

from .handling import Pages
from .static_files import static_route


def routes(service: QueryService) -> list[BaseRoute]:
    """Return the routes."""
    return [static_route(), *Pages(service).routes()]
