"""`trackrecord uninstall`: remove what `trackrecord install` added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord.settings.effect_consent import forget_effect_consent
from trackrecord_capture.agents.apply_plan import plan_uninstall, uninstall
from trackrecord_capture.agents.draft import DraftRefused
from trackrecord_worker.up.service import service_of, uninstall_service

from ...arguments.agent_names import agent_argument, chosen
from ...output.planning import show_note, show_plan

if TYPE_CHECKING:
    from pathlib import Path

_NO = 1


@click.command("uninstall")
@agent_argument
@click.option("--service", is_flag=True, help="Remove the service alone, and stop it.")
@click.option("--dry-run", is_flag=True, help="Show the files and lines and change nothing.")
def command(name: str | None, *, service: bool, dry_run: bool) -> int:
    """Remove what `trackrecord install` added, and nothing else.

    NAME is the name of an agent or all; without it, all, and the service that starts `up`. What has
    been learnt stays.
    """
    settings = load_daemon_settings()
    if service or name in (None, "all"):
        _uninstall_service(settings.home, is_asked=service, dry_run=dry_run)
    if service and not name:
        return 0
    is_refused = False
    for agent in chosen(name or "all", home=settings.home):
        try:
            plan = plan_uninstall(agent, settings.home)
            show_plan(agent.label, plan, is_done=not dry_run, verb="uninstall", with_lines=dry_run)
            if not dry_run:
                uninstall(agent, settings.home, plan)
        except DraftRefused as error:
            show_note(agent.label, str(error))
            is_refused = True
    if not dry_run and name in (None, "all"):
        forget_effect_consent(settings.home)
    return _NO if is_refused else 0


def _uninstall_service(home: Path, *, is_asked: bool, dry_run: bool) -> None:
    service = service_of(home)
    if not service.is_installed:
        if is_asked:
            click.echo("service: is not installed; nothing to change")
        return
    click.echo(f"service: {'would remove' if dry_run else 'removes'} {service.path}")
    if not dry_run and (left := uninstall_service(service)):
        click.echo(f"The system could not be told to stop it; type: {left}")
