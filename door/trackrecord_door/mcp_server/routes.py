"""The route of the Model Context Protocol: `/mcp`, for clients of any of its versions.

Each request stands alone: there is no session to keep, and a client goes on as if nothing had
happened after the server was started again. `?project=P` names a project other than that of the
settings, `?tools=recall,remember` offers fewer tools, and over the socket in the home `?folder=`
names the project of a folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from trackrecord.errors import InvalidRequest
from trackrecord.learning.numbers.speaker_names import LOCAL
from trackrecord.learning.text.project_names import checked_project
from trackrecord_capture.agents.installed import read_installed
from trackrecord_capture.projects import run_projects

from ..protocol.answers import RequestRefused
from ..protocol.callers import Permission, caller_of, check_permitted
from ..protocol.connections import came_over_socket
from ..query_service import QueryService
from .mcp_scope import READING, McpScope, chosen_tools

Serve = Callable[[McpScope, Scope, Receive, Send], Awaitable[None]]

_BAD_REQUEST = 400


class McpRoutes:
    """The route, and what it imports.

    Args:
        service: answers questions.
    """

    def __init__(self, service: QueryService) -> None:
        self._settings = service.settings
        self._serve: Serve | None = None
        self._importing = asyncio.Lock()

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        # A client may ask to listen (GET) or to end its session (DELETE): it is told that there is
        # nothing to listen to, and no session.
        return [Route("/mcp", self, methods=["POST"])]

    async def warm_up(self) -> None:
        """Import the SDK if an agent was given our server: it waits for the tools, but not long."""
        if any(installed.mcp for installed in read_installed(self._settings.home).values()):
            await self._imported()

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
            project = checked_project(
                asked.get("project") or caller.project or self._settings.project
            )
            tools = chosen_tools([name for name in asked.get("tools", "").split(",") if name])
        except (ValueError, InvalidRequest) as error:
            raise RequestRefused(_BAD_REQUEST, str(error)) from None
        check_permitted(request, Permission.READ, project)
        if caller.permission < Permission.WRITE:
            tools = tuple(name for name in tools if name in READING)
        folder = asked.get("folder")
        if folder and came_over_socket(request):
            # An agent of the same user, whose hooks name the project of this folder, too.
            return McpScope(partial(self._project_of, folder), tools, caller.name or LOCAL)
        return McpScope(lambda: project, tools, caller.name or LOCAL)

    def _project_of(self, folder: str) -> str:
        return run_projects(self._settings.capture, self._settings.home).of(folder)

    async def _imported(self) -> Serve:
        """Import the SDK with the first request, on a thread: hooks are answered meanwhile."""
        async with self._importing:
            if self._serve is None:
                module = await asyncio.to_thread(import_module, ".over_http", __package__)
                self._serve = module.serve
        return self._serve
