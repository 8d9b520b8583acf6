"""The tools: their names, arguments, results and hints for use."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from msgspec import Struct

from . import calls
from .arguments import (
    OutcomeArguments,
    RecallArguments,
    Recalled,
    RememberArguments,
    Remembered,
    Reported,
    ReportedRecallArguments,
)
from .calls import ToolAnswer
from .mcp_scope import RECALL, REMEMBER, REPORT_OUTCOME

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
        {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        calls.remember,
    ),
    Tool(
        REPORT_OUTCOME,
        "Report how a task went",
        "Report how a task went, once, when it has ended: later tasks are given what that "
        "teaches. Report failures, too. Another report of the same task corrects the first.",
        OutcomeArguments,
        Reported,
        {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
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
