"""The routes of this surface."""

from starlette.routing import BaseRoute

from trackrecord_door.floor import Floor


def routes(_floor: Floor) -> list[BaseRoute]:
    """Return the routes."""
    return []
