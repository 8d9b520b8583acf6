"""`trackrecord mcp`: the Model Context Protocol over stdin and stdout."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import click

from ...arguments.options import OneOf, project_option

if TYPE_CHECKING:
    from collections.abc import Callable

# As in `trackrecord_door.mcp_server.mcp_scope`, which help does not import; a test compares them.
TOOLS = ("recall", "remember", "report_outcome")


@click.command("mcp")
@project_option
@click.option(
    "--by-folder",
    is_flag=True,
    help="Use the project of the folder that it is started in, as the hooks of agents do.",
)
@click.option(
    "--tool",
    "tools",
    type=OneOf(TOOLS),
    multiple=True,
    help="Offer this tool only; repeatable.  [default: all]",
)
def command(project: str | None, tools: tuple[str, ...], *, by_folder: bool) -> None:
    """Serve agents over stdin and stdout, by the Model Context Protocol.

    An agent starts this itself: `claude mcp add trackrecord -- trackrecord mcp`. Where `trackrecord
    up` runs, agents can be pointed to /mcp of its front door instead, which starts nothing. It ends
    with its stdin, and cleanly with Ctrl-C or SIGTERM.
    """
    if project is not None and by_folder:
        message = "--project and --by-folder both say which project; give one of them"
        raise click.UsageError(message)
    # A client waits for this, and for nothing that these would find.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.disable()
    from trackrecord_door.mcp_server.mcp_scope import McpScope, chosen_tools
    from trackrecord_door.mcp_server.over_stdio import serve

    gc.freeze()
    gc.enable()
    serve(McpScope(_project_of(project, by_folder=by_folder), chosen_tools(tools)))


def _project_of(project: str | None, *, by_folder: bool) -> Callable[[], str]:
    """Return a function that names the project when needed: reading the settings takes time."""
    if project is not None:
        return lambda: project

    def of_settings() -> str:
        from trackrecord.settings.agent_settings import load_agent_settings

        return load_agent_settings().project

    return _of_folder if by_folder else of_settings


def _of_folder() -> str:
    from trackrecord.settings.daemon_settings import load_daemon_settings
    from trackrecord_capture.projects import run_projects

    settings = load_daemon_settings()
    return run_projects(settings.capture, settings.home).of(os.getcwd())  # noqa: PTH109 - a text
