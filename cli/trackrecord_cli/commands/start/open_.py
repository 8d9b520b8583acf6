"""`trackrecord open`: the page, in a browser."""

from __future__ import annotations

import html
import http.client
import json
import os
import sys
import webbrowser

import click

from trackrecord.errors import ServerUnavailable
from trackrecord_capture.agents.door_address import ask_door, read_door
from trackrecord_capture.agents.replacing import replace_file
from trackrecord_capture.agents.runtime import runtime_folder

from ...access import settings_for

_PAGE = "open.html"


@click.command("open")
def command() -> None:
    """Open the page in a browser, signed in.

    The link that is printed does the same; it works once, and for a minute. The browser stays
    signed in until the server ends, or for twelve hours without a request.
    """
    settings = settings_for(None)[0]
    home = settings.home
    try:
        status, answer = ask_door(home, "POST", "/session")
    except (OSError, http.client.HTTPException):
        status, answer = 0, b""
    door = read_door(home)
    if status != http.client.OK or door is None:
        message = f"no HTTP server answers in {home}; start one with `trackrecord up --detach`"
        raise ServerUnavailable(message)
    if door.port == 0:
        message = (
            f"the page has no port: {settings.http.port} of {settings.http.host} was taken when "
            "`trackrecord up` started; free it or set another TRACKRECORD_HTTP__PORT, and start it "
            "again"
        )
        raise ServerUnavailable(message)
    url = door.url + json.loads(answer)["path"]
    click.echo(url)
    if not _has_browser():
        return
    # Every user of the machine sees the arguments of a browser that is started: so they name a file
    # that only this user can read, and that leads on.
    page = runtime_folder(home) / _PAGE
    replace_file(page, f'<meta http-equiv="refresh" content="0;url={html.escape(url)}">\n'.encode())
    webbrowser.open(page.as_uri())


def _has_browser() -> bool:
    """Return whether a window can be opened: without a screen, a link is of more use."""
    known = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform != "linux" or any(os.environ.get(name) for name in known)
