"""The style sheet, the script and the icon: few, small, and this package's own."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER: Final = Path(__file__).with_name("static")
_TYPES: Final = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
# Its link changes with its content.
_FOREVER: Final = "public, max-age=31536000, immutable"


def link_of(name: str) -> str:
    """Return the link to a file."""
    digest = hashlib.sha256(_content(name)).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


def static_route() -> Route:
    """Return the route of the files."""
    return Route("/static/{name}", _file, methods=["GET"])


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _TYPES:
        raise HTTPException(404)
    headers = {
        "Cache-Control": _FOREVER,
        # An icon is a document, too, where someone opens it by itself.
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    return Response(_content(name), headers=headers, media_type=_TYPES[name])


@lru_cache(maxsize=len(_TYPES))
def _content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()
