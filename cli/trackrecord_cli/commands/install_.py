"""`trackrecord install`: make coding agents report by themselves."""

from __future__ import annotations

import click

from ..agent_names import agent_argument, chosen
from ..planning import show_note, show_plan

_NO = 1


@click.command("install")
@agent_argument
@click.option(
    "--summarise/--no-summarise",
    "summarises",
    default=None,
    help="Replace oversized tool outputs by summaries, where the agent allows it.  "
    "[default: as it is installed, at first not]",
)
@click.option(
    "--mcp/--no-mcp",
    "mcp",
    default=None,
    help="Register an MCP server, so that an agent can ask and remember by itself.  "
    "[default: as it is installed, at first not]",
)
@click.option("--dry-run", is_flag=True, help="Show the files and lines and change nothing.")
def command(name: str | None, *, summarises: bool | None, mcp: bool | None, dry_run: bool) -> int:
    """Make coding agents report their runs by themselves.

    NAME is claude-code, codex, opencode or all. Without it, this lists what would change for each
    agent on this machine. What is there already stays as it is; `trackrecord uninstall` removes
    what was added and nothing else.
    """
    from trackrecord.daemon_settings import load_daemon_settings
    from trackrecord_capture.agents.carrying_out import install, plan_install
    from trackrecord_capture.agents.draft import DraftRefused

    settings = load_daemon_settings()
    agents = chosen(name)
    is_refused = False
    for agent in agents:
        try:
            plan = plan_install(agent, settings.home, summarises=summarises, mcp=mcp)
            is_done = bool(name) and not dry_run
            show_plan(agent.label, plan, is_done=is_done, verb="install", with_lines=dry_run)
            if is_done:
                install(agent, settings.home, plan)
        except DraftRefused as error:
            show_note(agent.label, str(error))
            is_refused = True
    if not agents:
        return _NO
    if not name:
        click.echo("Nothing was changed. Run `trackrecord install all`, or name one of them.")
    elif not dry_run and not is_refused:
        click.echo("Sessions that start from now on are reported while `trackrecord up` runs.")
    return _NO if is_refused else 0
