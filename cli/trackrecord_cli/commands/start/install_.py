"""`trackrecord install`: make coding agents report by themselves."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ...arguments.agent_names import agent_argument, chosen
from ...output.planning import show_note, show_plan

if TYPE_CHECKING:
    from pathlib import Path

_NO = 1

_QUESTION = (
    "Does advice help you? To measure it, one task in ten gets none, in each project that has had "
    "200 tasks, and half of the hints at failing calls are withheld, one in five after the first "
    "130. Measure it?"
)
_MEASURED = (
    "Whether advice helps is measured from the 200th task of a project on, and hints at failing "
    "calls from the first one on: `trackrecord effect`."
)
_UNMEASURED = (
    "Whether advice helps is not measured. `trackrecord install all --measure` begins it, "
    "`trackrecord effect --enable` for one project."
)

_REMINDED = "told once a session that nothing has checked its last edit; `--no-remind` ends that"


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
@click.option(
    "--remind/--no-remind",
    "reminds",
    default=None,
    help="Ask an agent once a session to go on where nothing has checked its last edit, if the "
    "agent allows it.  [default: as it is installed, at first not]",
)
@click.option(
    "--measure/--no-measure",
    "measures",
    default=None,
    help="Give one task in ten no advice in each project that has had 200 tasks, to measure "
    "whether it helps.  [default: asked once on a terminal, else not]",
)
@click.option("--dry-run", is_flag=True, help="Show the files and lines and change nothing.")
def command(
    name: str | None,
    *,
    summarises: bool | None,
    mcp: bool | None,
    reminds: bool | None,
    measures: bool | None,
    dry_run: bool,
) -> int:
    """Make coding agents report their runs by themselves.

    NAME is the name of an agent or all. Without it, this lists what each agent on this machine can
    do, and what would change. What is there already stays as it is; `trackrecord uninstall` removes
    what was added and nothing else.
    """
    from trackrecord.settings.capture_rules import IGNORE_FILE
    from trackrecord.settings.daemon_settings import load_daemon_settings
    from trackrecord_capture.agents.apply_plan import install, plan_install
    from trackrecord_capture.agents.draft import DraftRefused

    settings = load_daemon_settings()
    agents = chosen(name)
    is_refused = False
    for agent in agents:
        try:
            plan = plan_install(
                agent, settings.home, summarises=summarises, mcp=mcp, reminds=reminds
            )
            is_done = bool(name) and not dry_run
            show_plan(agent.label, plan, is_done=is_done, verb="install", with_lines=dry_run)
            if plan.chosen.reminds:
                click.echo(f"{agent.label}: {_REMINDED}")
            if is_done:
                install(agent, settings.home, plan)
        except DraftRefused as error:
            show_note(agent.label, str(error))
            is_refused = True
    if not name:
        _list_abilities()
    if not agents:
        return _NO
    if not name:
        click.echo("Nothing was changed. Run `trackrecord install all`, or name one of them.")
    elif not dry_run and not is_refused:
        click.echo("Sessions that start from now on are reported while `trackrecord up` runs.")
        click.echo(f"To leave a folder out, put an empty file {IGNORE_FILE} into it.")
    if name and not dry_run and not is_refused:
        _settle_measuring(settings.home, measures)
    return _NO if is_refused else 0


def _list_abilities() -> None:
    """Print what trackrecord can do for each agent on this machine."""
    from trackrecord_capture.sources.register import known_agents

    for agent in known_agents():
        if agent.is_found:
            live = "live reports, hints" if agent.hooks else "no live reports, no hints"
            click.echo(f"{agent.label}: history (`trackrecord import {agent.name}`), {live}")


def _settle_measuring(home: Path, measures: bool | None) -> None:
    """Store whether the effect of advice is measured; ask once, if the user can answer."""
    from trackrecord.settings.effect_consent import effect_consent, note_effect_consent

    if measures is None:
        if effect_consent(home) is not None:
            return
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            click.echo(_UNMEASURED)
            return
        measures = click.confirm(_QUESTION, default=False)
    note_effect_consent(home, is_given=measures)
    click.echo(_MEASURED if measures else _UNMEASURED)
