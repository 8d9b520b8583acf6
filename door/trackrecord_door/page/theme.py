"""Light or dark: as the device has it, or as the reader chose."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trackrecord_door.answers import RequestRefused
from trackrecord_door.bodies import Bodies

from .forms import Form, check_same_origin, form_of

THEMES: Final = ("auto", "light", "dark")
_COOKIE: Final = "trackrecord_theme"
_YEAR_S: Final = 365 * 24 * 3600
_MOST_BYTES: Final = 16 * 1024


def theme_of(request: Request) -> str:
    """Return the theme that the reader chose; "auto" follows the device."""
    chosen = request.cookies.get(_COOKIE, "auto")
    return chosen if chosen in THEMES else "auto"


def theme_route() -> Route:
    """Return the route that remembers the theme, in a cookie."""
    bodies = Bodies(_MOST_BYTES)

    async def remember(request: Request) -> Response:
        from .handling import error_answer
        from .rendering import redirect

        try:
            check_same_origin(request)
            async with bodies.of(request) as body:
                form = form_of(request, body)
        except RequestRefused as refusal:
            return error_answer(request, refusal)
        answer = redirect(_own_path(form))
        chosen = (form.texts("theme") or ["auto"])[-1]
        if chosen in THEMES:
            answer.set_cookie(_COOKIE, chosen, _YEAR_S, httponly=True, samesite="strict")
        return answer

    return Route("/theme", remember, methods=["POST"])


def _own_path(form: Form) -> str:
    """Return the page to go back to: always one of this server."""
    back = (form.texts("back") or ["/"])[-1]
    is_own = back.startswith("/") and not back.startswith(("//", "/\\")) and back.isprintable()
    return back if is_own else "/"
