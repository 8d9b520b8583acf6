"""Requests for pages: checked, answered on a thread of the floor, and never left without a page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trackrecord.errors import TrackrecordError, UnknownProject
from trackrecord.resources.declaration.checks import decided_by
from trackrecord.resources.declaration.resource import may_lack
from trackrecord_door.protocol.answers import RequestRefused, status_of
from trackrecord_door.protocol.bodies import Bodies
from trackrecord_door.protocol.callers import caller_of, check_permitted
from trackrecord_door.query_service import QueryService

from .requests.forms import MOST_BYTES, Form, check_same_origin, form_of
from .static_files import static_route
from .table import ACTIONS, VIEWS, Action, View
from .views import function_named

if TYPE_CHECKING:
    from .answering import ConfirmedAction, PageView
    from .requests.page_request import PageRequest

_Endpoint = Callable[[Request], Awaitable[Response]]


class Pages:
    """Answers requests for pages.

    Args:
        service: where the answers come from.
    """

    def __init__(self, service: QueryService) -> None:
        self._floor = service
        self._bodies = Bodies(MOST_BYTES)

    def routes(self) -> list[BaseRoute]:
        """Return a route for each page and each action, and for what they look like."""
        views = [Route(each.path, self._view(each), methods=["GET"]) for each in VIEWS]
        actions = [Route(each.path, self._action(each), methods=["POST"]) for each in ACTIONS]
        return [static_route(), *views, *actions]

    def _view(self, view: View) -> _Endpoint:
        async def endpoint(request: Request) -> Response:
            return await self._floor_answers(_show, request, view)

        return endpoint

    def _action(self, action: Action) -> _Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                check_same_origin(request)
                async with self._bodies.of(request) as body:
                    form = form_of(request, body)
            except RequestRefused as refusal:
                return error_answer(request, refusal)
            return await self._floor_answers(_act, request, action, form)

        return endpoint

    async def _floor_answers(
        self, answer: Callable[..., Response], request: Request, *given: object
    ) -> Response:
        try:
            return await self._floor.ask(answer, self._floor, request, *given)
        except (RequestRefused, TrackrecordError) as error:
            return error_answer(request, error)


def error_answer(request: Request, error: RequestRefused | TrackrecordError) -> Response:
    """Return a page with the error and its remedy."""
    from .rendering import render_error

    return render_error(request, error)


def _show(service: QueryService, request: Request, view: View) -> Response:
    from .rendering import render, render_nothing_yet
    from .requests.page_request import read_page_request

    asked = read_page_request(request, service)
    check_permitted(request, view.permission, asked.project)
    try:
        shown: PageView = function_named(view.function)(asked)
        return render(request, asked, shown, removed=_removed(asked, view, shown))
    except UnknownProject:
        if asked.names_project:
            raise
        return render_nothing_yet(request, asked)


def _removed(asked: PageRequest, view: View, shown: PageView) -> str:
    """Return what a page lacks because retention has removed it."""
    from trackrecord.resources.access.removed import removed_from_answer

    question = {"text": asked.query.get("text")}
    needed = may_lack(view.rests_on, question, is_whole=shown.is_whole)
    if not needed:
        return ""
    with asked.reading() as connection:
        return removed_from_answer(connection, asked.project, needed, question)


def _act(service: QueryService, request: Request, action: Action, form: Form) -> Response:
    from .requests.page_request import read_page_request

    asked = read_page_request(request, service)
    check_permitted(request, action.permission, None if action.of_all_projects else asked.project)
    return _ask_or_do(request, asked, function_named(action.function)(asked, form), form)


def _ask_or_do(request: Request, asked: PageRequest, deed: ConfirmedAction, form: Form) -> Response:
    from .rendering import redirect, render_question

    if form.optional("confirmed") is None:
        return render_question(request, asked, deed, form)
    try:
        reason = form.text("reason") if deed.reason == "required" else form.optional("reason")
        by = form.optional("by") or caller_of(request).name
        said = deed.do(*decided_by(by, reason))
    except TrackrecordError as error:
        return render_question(request, asked, deed, form, str(error), status_of(error))
    return redirect(deed.then or deed.back, said)
