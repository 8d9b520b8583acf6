"""`trackrecord install`: make coding agents report by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trackrecord.settings.capture_rules import IGNORE_FILE
from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord.settings.effect_consent import effect_consent, note_effect_consent
from trackrecord_capture.agents.apply_plan import install, plan_install
from trackrecord_capture.agents.draft import DraftRefused
from trackrecord_capture.sources.register import known_agents
from trackrecord_worker.up.home_lock import running_up
from trackrecord_worker.up.service import (
    ends_with_login,
    install_service,
    service_of,
    unseen_settings,
)

from ...arguments.agent_names import agent_argument, chosen
from ...output.planning import show_note, show_plan

if TYPE_CHECKING:
    from pathlib import Path

    from trackrecord_capture.agents.plan import Installation

_NO = 1

_MEASURED = (
    "Whether advice helps is measured from the 200th task of a project on, and hints at failing "
    "calls from the first one on: `trackrecord effect`."
)
_UNMEASURED = (
    "Whether advice helps is not measured. `trackrecord install all --measure` begins it, "
    "`trackrecord effect --enable` for one project."
)

_START = (
    "To start it: `trackrecord up --detach`, or `trackrecord install --service` for each login."
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
    "whether it helps.  [default: as it is by now, at first not]",
)
@click.option(
    "--service",
    is_flag=True,
    help="Let the system start `trackrecord up` now and at each login: a service of systemd's or "
    "launchd's, for this user.",
)
@click.option("--dry-run", is_flag=True, help="Show the files and lines and change nothing.")
def command(
    name: str | None,
    *,
    service: bool,
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
    settings = load_daemon_settings()
    if service:
        _install_service(settings.home, dry_run=dry_run)
        if not name:
            return 0
    agents = chosen(name)
    is_done = bool(name) and not dry_run
    asked = {"summarises": summarises, "mcp": mcp, "reminds": reminds}
    refused = [
        each for each in agents if not _install(each, settings.home, asked, is_done, dry_run)
    ]
    if not name:
        _list_abilities()
    if not agents:
        return _NO
    if not name:
        click.echo("Nothing was changed. Run `trackrecord install all`, or name one of them.")
    elif is_done and not refused:
        click.echo("Sessions that start from now on are reported while `trackrecord up` runs.")
        if not service:
            click.echo(_START)
        click.echo(f"To leave a folder out, put an empty file {IGNORE_FILE} into it.")
        _settle_measuring(settings.home, measures)
    return _NO if refused else 0


def _install(
    agent: Installation, home: Path, asked: dict[str, bool | None], is_done: bool, with_lines: bool
) -> bool:
    """Install for one agent, or show what would be; return whether its files allow it."""
    try:
        plan = plan_install(agent, home, **asked)
        if is_done:
            install(agent, home, plan)
        show_plan(agent.label, plan, is_done=is_done, verb="install", with_lines=with_lines)
        if plan.chosen.reminds:
            click.echo(f"{agent.label}: {_REMINDED}")
    except DraftRefused as error:
        show_note(agent.label, str(error))
        return False
    return True


def _install_service(home: Path, *, dry_run: bool) -> None:
    service = service_of(home)
    click.echo(f"service: {'would write' if dry_run else 'writes'} {service.path}")
    if dry_run:
        click.echo(service.text)
        return
    running = running_up(home)
    if unseen := unseen_settings():
        click.echo(
            f"The service does not see {', '.join(unseen)}: put it into your trackrecord.toml."
        )
    if left := install_service(service):
        click.echo(f"The system could not be told to start it; type: {left}")
    elif running:
        click.echo(f"It starts when what runs now ({running}) ends: `trackrecord down`.")
    if ends_with_login():
        click.echo("To keep it running while you are not logged in: `loginctl enable-linger`")


def _list_abilities() -> None:
    """Print what trackrecord can do for each agent on this machine."""
    for agent in known_agents():
        if agent.is_found:
            live = "live reports, hints" if agent.hooks else "no live reports, no hints"
            click.echo(f"{agent.label}: history (`trackrecord import {agent.name}`), {live}")


def _settle_measuring(home: Path, measures: bool | None) -> None:
    """Store whether the effect of advice is measured, where that is said; say what holds."""
    if measures is not None:
        note_effect_consent(home, is_given=measures)
    elif effect_consent(home) is not None:
        return
    click.echo(_MEASURED if measures else _UNMEASURED)
