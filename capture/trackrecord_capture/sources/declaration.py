"""A coding agent's declaration: all that the rest of the code knows of it.

Each package of `sources` holds one agent and declares it as `AGENT`. Nothing else names agents:
commands, hooks, live reports and the doctor look them up in `register`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from .source import RecordedPrompt, Source

if TYPE_CHECKING:
    from ..agents.plan import Installation

Action = Literal[
    "edit", "write", "read", "search", "shell", "delegate", "plan", "fetch", "web_search"
]
"""What a tool does, in words that are the same for all agents; "search" is in files."""


def tools_of(**tools: str) -> Mapping[str, Action]:
    """Return the action of each tool.

    Args:
        tools: by the action, the tools with it, parted by spaces.
    """
    named = ((tool, action) for action, names in tools.items() for tool in names.split())
    return {tool: cast("Action", action) for tool, action in named}


@dataclass(frozen=True, kw_only=True)
class CodingAgent:
    """A coding agent.

    Attributes:
        label: its name for people.
        source: where its sessions are recorded, and how they are read.
        tools: what its own tools do, by the agent's name for each; tools of MCP servers are none.
            On record a tool has this word. Of several tools with one word the first is the one that
            the agent is told of.
        tried: the version whose program was run against this code; "" if there was none to run,
            so that only documents and the published source say how it records.
        hooks: how it is made to report by itself; None if its sessions can only be imported.
        home_variable: the environment variable that moves its folder; "" if none does.
        events: its own names for the events of hooks, by those of Claude Code, where they differ.
        recorded_prompt: finds in its recordings the prompt that a session was at at a moment; None
            if it reports no traces.
    """

    label: str
    source: Source
    tools: Mapping[str, Action]
    tried: str = ""
    hooks: "Installation | None" = None
    home_variable: str = ""
    events: Mapping[str, str] = field(default_factory=dict)
    recorded_prompt: Callable[[str, float], RecordedPrompt] | None = None

    @property
    def name(self) -> str:
        """Its name, as in `trackrecord import NAME`: that of its package."""
        return self.source.name

    @property
    def is_found(self) -> bool:
        """Return whether it is on this machine."""
        if self.hooks is not None:
            return self.hooks.is_found()
        return any(True for _ in self.source.logs(self.source.homes()))
