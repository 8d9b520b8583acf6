"""Pages as HTML: templates in which every text is escaped, behind a strict content policy."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from math import isfinite
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from trackrecord.errors import ServerUnavailable, TrackrecordError
from trackrecord.resources.declaration.checks import user_name
from trackrecord_door.protocol.answers import RequestRefused, status_of
from trackrecord_door.protocol.callers import caller_of

from .answering import ConfirmedAction, PageView
from .drawings import plots
from .requests.forms import Form
from .requests.page_request import PageRequest, visible_projects
from .static_files import link_of
from .table import NAVIGATION

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_DASH: Final = "–"
# The states that have a colour; each is also written out.
_GOOD: Final = frozenset(
    {"proven", "established", "success", "it helps", "active", "helpful", "runs"}
)
_BAD: Final = frozenset({
    "warning", "anti-pattern", "failure", "it hurts", "hurts", "deprecated", "harmful", "broken",
    "known pitfall", "never ran", "does not run",
})  # fmt: skip


def count(value: float | None) -> str:
    """Return a whole number with thin groups of thousands: "1 234 567"."""
    return _DASH if value is None else f"{value:,.0f}".replace(",", "\u202f")


def share(value: float | None) -> str:
    """Return a share of 1 in percent: "83%"."""
    if value is None or not isfinite(value):
        return _DASH
    return f"{100 * value:.0f}%"


def interval(low: float | None, high: float | None) -> str:
    """Return an interval of shares: "71–90%"."""
    if low is None or high is None:
        return ""
    return f"{100 * low:.0f}{_DASH}{100 * high:.0f}%"


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with some decimals: "0.87"."""
    return _DASH if value is None else f"{value:.{digits}f}"


def seconds(value: float | None) -> str:
    """Return a duration: "340 ms", "12.3 s", "4 min", "2 h", "3 days"."""
    if value is None:
        return _DASH
    if value < 1:
        return f"{1000 * value:.0f} ms"
    if value < _MINUTE:
        return f"{value:.1f} s"
    if value < _HOUR:
        return f"{value / _MINUTE:.0f} min"
    return f"{value / _HOUR:.0f} h" if value < 2 * _DAY else f"{value / _DAY:.0f} days"


def moment(at: float | None) -> str | Markup:
    """Return a moment in UTC, to the minute, for people and for machines."""
    if at is None:
        return _DASH
    when = datetime.fromtimestamp(at, UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        when.isoformat(timespec="seconds"), when.strftime("%Y-%m-%d\u00a0%H:%M")
    )


def ago(at: float | None) -> str | Markup:
    """Return how long ago a moment was: "3 h ago"."""
    if at is None:
        return "never"
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    text = f"{seconds(max(1.0, time.time() - at))} ago"
    return Markup('<time datetime="{}">{}</time>').format(when, text)


def day(at: float) -> str:
    """Return the day of a moment in UTC: "2026-11-22"."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def prose(text: str) -> Markup:
    """Return a sentence of ours as HTML; commands in it are between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        # A backtick without another one is only a backtick.
        parts[-2:] = ["`".join(parts[-2:])]
    shown = [
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(parts)
    ]
    return Markup("").join(shown)


def clock(at: float) -> str:
    """Return the time of day of a moment in UTC: "07:27"."""
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M")


def tone(state: str) -> str:
    """Return the colour of a state: "good", "bad" or "plain"."""
    name = state.lower()
    return "good" if name in _GOOD else "bad" if name in _BAD else "plain"


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    each.__name__: each
    for each in (count, share, decimal, seconds, moment, ago, day, clock, prose, tone)
} | {"interval": interval}


_POLICY: Final = "; ".join((
    "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'",
    "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
))  # fmt: skip
HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    # With "no-referrer" browsers would send no origin with forms, either.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# What was done is said on the page that follows.
_SAID: Final = "trackrecord_said"
_LONGEST_SAID: Final = 1000
_SAID_FOR_S: Final = 60
# Of a question that is asked again, these are asked for anew.
_ANSWERS: Final = ("confirmed", "reason", "by")


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates' environment, with their functions."""
    made = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(FILTERS)
    made.globals.update(plots=plots, navigation=NAVIGATION, static=link_of)
    return made


def render(
    request: Request, asked: PageRequest | None, shown: PageView, *, removed: str = ""
) -> Response:
    """Return a page.

    Args:
        request: for it.
        asked: the same, parsed; None where that failed.
        shown: its content.
        removed: what it lacks because retention has removed it.
    """
    said = _said(request)
    template = environment().get_template(shown.template)
    text = template.render(
        {
            **shown.values,
            "asked": asked,
            "title": shown.title,
            "projects": _projects(asked),
            "said": said,
            "removed": removed,
        }
    )
    answer = HTMLResponse(text, shown.status, HEADERS)
    if said is not None:
        answer.delete_cookie(_SAID, httponly=True, samesite="strict")
    return answer


def render_nothing_yet(request: Request, asked: PageRequest) -> Response:
    """Return the page of a project of which nothing is on record yet."""
    return render(request, asked, PageView("nothing_yet.html", "Nothing on record yet"))


def render_error(request: Request, error: RequestRefused | TrackrecordError) -> Response:
    """Return a page with the error in a sentence, and its remedy."""
    status = error.status if isinstance(error, RequestRefused) else status_of(error)
    message = error.message if isinstance(error, RequestRefused) else str(error)
    values = {"message": message, "status": status}
    template = "signed_out.html" if status == HTTPStatus.UNAUTHORIZED else "error.html"
    answer = render(request, None, PageView(template, HTTPStatus(status).phrase, values, status))
    if isinstance(error, RequestRefused):
        answer.headers.update(error.headers)
    return answer


def render_question(
    request: Request,
    asked: PageRequest,
    deed: ConfirmedAction,
    form: Form,
    problem: str | None = None,
    status: int = 200,
) -> Response:
    """Return a page that asks for confirmation, with the problem of the last try."""
    fields = {name: each for name, each in form.fields.items() if name not in _ANSWERS}
    values: dict[str, Any] = {
        "deed": deed,
        "target": asked.link_with(),
        "fields": fields,
        "problem": problem,
        "reason": form.fields.get("reason", [""])[-1],
        "by": form.fields.get("by", [caller_of(request).name or user_name()])[-1],
    }
    # The links of its frame lead to the page behind: a form's own path shows nothing.
    behind = replace(asked, path=unquote(urlsplit(deed.back).path))
    return render(request, behind, PageView("question.html", f"{deed.button}?", values, status))


def redirect(link: str, said: str | None = None) -> Response:
    """Return the redirection to the next page, with a message about what was done."""
    answer = RedirectResponse(link, 303, HEADERS)
    if said is not None:
        value = base64.urlsafe_b64encode(said[:_LONGEST_SAID].encode()).decode()
        answer.set_cookie(_SAID, value, _SAID_FOR_S, httponly=True, samesite="strict")
    return answer


def _said(request: Request) -> str | None:
    """Return the message of the last form, None without one."""
    try:
        return base64.urlsafe_b64decode(request.cookies.get(_SAID, "")).decode() or None
    except (binascii.Error, ValueError):
        return None


def _projects(asked: PageRequest | None) -> list[str]:
    if asked is None:
        return []
    try:
        return visible_projects(asked)
    except ServerUnavailable:
        return [asked.project]
