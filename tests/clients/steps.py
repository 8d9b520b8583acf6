"""Steps of a story's agent, in words that every client can carry out."""

from pathlib import Path
from typing import NamedTuple, TypeAlias


class Run(NamedTuple):
    """Run a command in the shell."""

    command: str


class Write(NamedTuple):
    """Write a file with the client's own tool, so that it counts as an edit."""

    path: Path
    text: str


class Misfit(NamedTuple):
    """Edit a file where it does not say what the edit replaces: the client's own tool refuses."""

    path: Path


class Use(NamedTuple):
    """Use a tool of trackrecord's MCP server, by the name that the server gives it."""

    tool: str
    arguments: dict[str, object]


class Delegate(NamedTuple):
    """Have a sub-agent do what its prompt says, by the steps that the story has for that prompt."""

    prompt: str


class Say(NamedTuple):
    """Say something and end the turn."""

    text: str


class Refuse(NamedTuple):
    """The model's API refuses with this status, as often as it is asked."""

    status: int
    kind: str = "overloaded_error"
    says: str = "Overloaded"


Step: TypeAlias = Run | Write | Misfit | Use | Delegate | Say | Refuse
