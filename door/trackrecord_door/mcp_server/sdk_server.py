"""The server as the official SDK takes it. Importing this module imports the SDK: 40 MB, 0.5 s."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias

import anyio
import anyio.to_thread
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from msgspec import Struct

import trackrecord
from trackrecord.errors import InvalidRequest, TrackrecordError

from . import calls
from .arguments import (
    OutcomeArguments,
    RecallArguments,
    Recalled,
    RememberArguments,
    Remembered,
    Reported,
    ReportedRecallArguments,
    read_arguments,
    schema_of,
)
from .calls import ToolAnswer, in_one_line
from .mcp_scope import RECALL, REMEMBER, REPORT_OUTCOME, McpScope

# Loaded whole by clients that otherwise load the names of tools alone: it is wanted at once.
_LOADED: Final = {"anthropic/alwaysLoad": True}


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        name: its name.
        title: its name for people.
        description: what it is for, for the model.
        arguments: what it takes.
        answer: what it returns.
        hints: how it may be used, as MCP's annotations.
        call: does it, given the project, the arguments, the client's name and whose word it is.
        meta: what single clients read.
    """

    name: str
    title: str
    description: str
    arguments: type[Struct]
    answer: type[Struct]
    hints: Mapping[str, bool]
    call: Callable[[str, Any, str | None, str], ToolAnswer]
    meta: Mapping[str, Any] = field(default_factory=dict)


_ADDS: Final = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
_RECALL: Final = Tool(
    RECALL,
    "Recall earlier experience",
    "Return what earlier runs in this project have shown that has to do with a task, as text "
    "within a budget of tokens. Call it once, before you plan.",
    RecallArguments,
    Recalled,
    {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    calls.recall,
    _LOADED,
)
_ALL: Final = (
    _RECALL,
    Tool(
        REMEMBER,
        "Remember a fact",
        "Store a short fact for the agents that work in this project later. A known fact is not "
        "stored twice; one that contradicts an older fact replaces it.",
        RememberArguments,
        Remembered,
        _ADDS,
        calls.remember,
    ),
    Tool(
        REPORT_OUTCOME,
        "Report how a task went",
        "Report how a task went, once, when it has ended: later tasks are given what that "
        "teaches. Report failures, too. Another report of the same task corrects the first.",
        OutcomeArguments,
        Reported,
        _ADDS,
        calls.report_outcome,
    ),
)


def tools_of(names: Collection[str]) -> Iterator[Tool]:
    """Yield the tools of these names."""
    for tool in _ALL:
        if tool.name not in names:
            continue
        # A task id is worth its tokens only where an outcome can be reported with it.
        if tool is _RECALL and REPORT_OUTCOME in names:
            yield replace(tool, arguments=ReportedRecallArguments)
        else:
            yield tool


_ABOUT: Final = (
    "trackrecord keeps what earlier runs of agents in this project have shown: which approaches "
    "succeed or fail and how often, lessons about tools, sequences of tool calls that worked, and "
    "short memories."
)
_PARTS: Final = {
    "recall": (
        "recall: call it once when you start a task that takes more than a step or two, before "
        "you plan. Pass the task in the words of the person who asked. It answers in milliseconds "
        "with records of earlier runs; weigh them as evidence. An empty answer means that nothing "
        "is known yet: go on without it."
    ),
    "remember": (
        "remember: call it when you find out something that the next agent in this project would "
        "want to know, for example a command that works, a pitfall or a convention. One or two "
        "sentences that make sense on their own, without secrets, and nothing that holds only "
        "for this task."
    ),
    "report_outcome": (
        "report_outcome: call it once when the task has ended and you know how it went, with the "
        "task_id that recall returned. Failures teach the most: report them, too. Success means "
        "that the task reached its goal, as a test, a review or the person has shown."
    ),
}


def instructions_for(tools: Collection[str]) -> str:
    """Return the instructions of a server that offers these tools."""
    return "\n".join([_ABOUT, *(f"- {text}" for name, text in _PARTS.items() if name in tools)])


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
    # Codex calls itself "codex-mcp-client".
    return name.removesuffix("-mcp-client")[:_LONGEST_NAME] or None
