"""The server as the official SDK takes it. Importing this module imports the SDK: 40 MB, 0.5 s."""

import logging
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias

import anyio
import anyio.to_thread
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

import trackrecord
from trackrecord.errors import InvalidRequest, TrackrecordError

from .arguments import read_arguments, schema_of
from .calls import ToolAnswer, in_one_line
from .instructions import instructions_for
from .mcp_scope import McpScope
from .tools import Tool, tools_of

Context: TypeAlias = ServerRequestContext[Any, Any]

_NAME: Final = "trackrecord"
_LONGEST_NAME: Final = 100
# Of all clients together: while Redis hangs, their calls take no thread from anybody else.
_THREADS: Final = anyio.CapacityLimiter(16)

# What a client sends wrongly is told to the client.
logging.getLogger("mcp").setLevel(logging.ERROR)


def create_server(agent_scope: McpScope) -> Server[Any]:
    """Return a server for one seat."""
    offered, listed = _offered(agent_scope.tools)

    async def list_tools(
        _context: Context, _page: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return listed

    async def call_tool(
        context: Context, asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        # A call that was begun is finished, also when the client is gone meanwhile.
        return await anyio.to_thread.run_sync(
            partial(_answer, offered, agent_scope, asked, _client_name(context)), limiter=_THREADS
        )

    return Server(
        _NAME,
        version=trackrecord.__version__,
        instructions=instructions_for(offered),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


@lru_cache(maxsize=8)
def _offered(names: tuple[str, ...]) -> tuple[Mapping[str, Tool], types.ListToolsResult]:
    """Return tools by name, and in the form for clients; over HTTP each request reads them."""
    offered = {tool.name: tool for tool in tools_of(names)}
    described = [_described(tool) for tool in offered.values()]
    return offered, types.ListToolsResult(tools=described)


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.arguments),
        output_schema=schema_of(tool.answer),
        annotations=types.ToolAnnotations.model_validate(tool.hints),
        _meta=dict(tool.meta) or None,
    )


def _answer(
    offered: Mapping[str, Tool],
    agent_scope: McpScope,
    asked: types.CallToolRequestParams,
    source: str | None,
) -> types.CallToolResult:
    try:
        said = _called(offered, agent_scope, asked, source)
    except TrackrecordError as error:
        return _failed(in_one_line(error))
    except Exception as error:
        logging.getLogger(__name__).exception("a tool failed")
        return _failed(f"it failed ({type(error).__name__}); the log of trackrecord says why")
    text = types.TextContent(type="text", text=said.text)
    return types.CallToolResult(content=[text], structured_content=_as_json(said))


def _called(
    offered: Mapping[str, Tool],
    agent_scope: McpScope,
    asked: types.CallToolRequestParams,
    source: str | None,
) -> ToolAnswer:
    tool = offered.get(asked.name)
    if tool is None:
        name = ascii(asked.name)[:_LONGEST_NAME]
        message = f"there is no tool {name} here; the tools are {', '.join(offered)}"
        raise InvalidRequest(message)
    arguments = read_arguments(asked.arguments, tool.arguments)
    return tool.call(agent_scope.project(), arguments, source, agent_scope.reporter)


def _as_json(said: ToolAnswer) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(said.document)
    return document


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=message)], is_error=True
    )


def _client_name(context: Context) -> str | None:
    """Return the client's own name, if it sent one on this connection."""
    client = context.session.client_params
    if client is None:
        return None
    name: str = client.client_info.name
    return name[:_LONGEST_NAME] or None
