"""The routes of this surface."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trackrecord_door.protocol.answers import RequestRefused
from trackrecord_door.protocol.bodies import Bodies
from trackrecord_door.query_service import QueryService

from .handling import Pages, error_answer
from .requests.forms import Form, check_same_origin, form_of
from .requests.page_request import COOKIE, THEMES
from .static_files import static_route

_YEAR_S: Final = 365 * 24 * 3600
_MOST_BYTES: Final = 16 * 1024


def routes(service: QueryService) -> list[BaseRoute]:
    """Return the routes."""
    return [static_route(), theme_route(), *Pages(service).routes()]


def theme_route() -> Route:
    """Return the route that remembers the theme, in a cookie."""
    bodies = Bodies(_MOST_BYTES)

    async def remember(request: Request) -> Response:
        try:
            check_same_origin(request)
            async with bodies.of(request) as body:
                form = form_of(request, body)
        except RequestRefused as refusal:
            return error_answer(request, refusal)
        from .rendering import redirect

        answer = redirect(_own_path(form))
        chosen = (form.texts("theme") or ["auto"])[-1]
        if chosen in THEMES:
            answer.set_cookie(COOKIE, chosen, _YEAR_S, httponly=True, samesite="strict")
        return answer

    return Route("/theme", remember, methods=["POST"])


def _own_path(form: Form) -> str:
    """Return the page to go back to: always one of this server."""
    back = (form.texts("back") or ["/"])[-1]
    is_own = back.startswith("/") and not back.startswith(("//", "/\\")) and back.isprintable()
    return back if is_own else "/"
