"""The route of the Model Context Protocol: `/mcp`, for clients of any of its versions.

Each request stands alone: there is no session to keep, and a client goes on as if nothing had
happened after the server was started again. `?project=P` names a project other than that of the
settings, `?tools=recall,remember` offers fewer tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from trackrecord.errors import InvalidRequest
from trackrecord.learning.numbers.speakers import LOCAL
from trackrecord.project_names import checked_project

from ..answers import RequestRefused
from ..callers import Permission, caller_of, check_permitted
from ..query_service import QueryService
from .mcp_scope import READING, McpScope, chosen_tools

Serve = Callable[[McpScope, Scope, Receive, Send], Awaitable[None]]

_BAD_REQUEST = 400


def routes(service: QueryService) -> list[BaseRoute]:
    """Return the routes."""
    # A client may ask to listen (GET) or to end its session (DELETE): it is told that there is
    # nothing to listen to, and no session.
    return [Route("/mcp", _Mcp(service), methods=["POST"])]


class _Mcp:
    def __init__(self, service: QueryService) -> None:
        self._usual_project = service.settings.project
        self._serve: Serve | None = None
        self._importing = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        agent_scope = self._agent_scope(Request(scope))
        serve = self._serve or await self._imported()
        await serve(agent_scope, scope, receive, send)

    def _agent_scope(self, request: Request) -> McpScope:
        """Return the project and the task of the request.

        Raises:
            RequestRefused: it names no project or no tools that there can be, or may not use them.
        """
        caller, asked = caller_of(request), request.query_params
        try:
            project = checked_project(asked.get("project") or caller.project or self._usual_project)
            tools = chosen_tools([name for name in asked.get("tools", "").split(",") if name])
        except (ValueError, InvalidRequest) as error:
            raise RequestRefused(_BAD_REQUEST, str(error)) from None
        check_permitted(request, Permission.READ, project)
        if caller.permission < Permission.WRITE:
            tools = tuple(name for name in tools if name in READING)
        return McpScope(lambda: project, tools, caller.name or LOCAL)

    async def _imported(self) -> Serve:
        """Import the SDK with the first request, on a thread: hooks are answered meanwhile."""
        async with self._importing:
            if self._serve is None:
                module = await asyncio.to_thread(import_module, ".over_http", __package__)
                self._serve = module.serve
        return self._serve
