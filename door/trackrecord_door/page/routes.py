"""The routes of this surface."""

from starlette.routing import BaseRoute

from trackrecord_door.floor import Floor

from .handling import Pages
from .static_files import static_route
from .theme import theme_route


def routes(floor: Floor) -> list[BaseRoute]:
    """Return the routes."""
    return [static_route(), theme_route(), *Pages(floor).routes()]
