"""`trackrecord prune`: remove what is older than the retention settings say, now."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from trackrecord.errors import AlreadyRunning
from trackrecord.learning.text.numerals import counted
from trackrecord.learning.text.times import iso
from trackrecord.process.logs import configure_logs
from trackrecord.resources.access.project_store import project_row
from trackrecord.settings.daemon_settings import RetentionSettings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_names
from trackrecord_consolidation.retention import remove_old

from ...access import open_store, settings_for
from ...arguments.options import PROJECT_NAME, json_option
from ...output.screen import print_json, print_table, telling_what_was_done, working

if TYPE_CHECKING:
    from trackrecord_consolidation.retention import Removed

_LEFT = "a part may be removed already: the next run, the nightly one or this one, does the rest"
_UNSET = (
    "no retention is set, so everything is kept: set TRACKRECORD_RETENTION__BODIES_DAYS or "
    "TRACKRECORD_RETENTION__OUTCOMES_DAYS"
)


@click.command("prune")
@click.option(
    "--project",
    type=PROJECT_NAME,
    help="Remove it in the project of this name alone.",
)
@click.option("--dry-run", is_flag=True, help="Count what would be removed, and change nothing.")
@json_option
def command(project: str | None, *, dry_run: bool, as_json: bool) -> None:
    """Remove what is older than the retention settings say, now.

    The nightly job does the same after it has consolidated. Outcomes keep counting; see
    docs/cost-and-removal.md for what can no longer be answered. It cannot be undone.
    """
    configure_logs("warning")
    settings, _ = settings_for(None)
    if settings.retention == RetentionSettings():
        raise click.UsageError(_UNSET)
    done, busy = [], []
    with open_store(settings) as engine:
        with reading(engine) as connection:
            if project is not None:
                project_row(connection, project)
            names = project_names(connection) if project is None else [project]
        with telling_what_was_done(lambda: "nothing was changed" if dry_run else _LEFT):
            for name in names:
                try:
                    with working(f"removing old outcomes of {name}") as report:
                        done.append(
                            remove_old(
                                engine, settings.retention, settings.rules, name,
                                now=time.time(), dry_run=dry_run, report=report,
                            )
                        )  # fmt: skip
                except AlreadyRunning:
                    busy.append(name)
    if as_json:
        print_json([_document(each) for each in done])
    else:
        _show(done, dry_run=dry_run)
    if busy:
        message = (
            f"skipped, because they are being consolidated: {', '.join(busy)}; the next run, the "
            "nightly one or this one, sees to them"
        )
        raise AlreadyRunning(message)


def _document(removed: Removed) -> dict[str, Any]:
    until = {name: iso(getattr(removed, name)) for name in ("outcomes_until", "bodies_until")}
    return asdict(removed) | until


def _show(done: list[Removed], *, dry_run: bool) -> None:
    some = [each for each in done if each.outcomes or each.bodies]
    if some:
        rows = [(each.project, each.outcomes, each.bodies) for each in some]
        print_table(("project", "outcomes", "without their texts"), rows)
    outcomes, bodies = sum(each.outcomes for each in some), sum(each.bodies for each in some)
    would = "would be " if dry_run else ""
    click.echo(
        f"{counted(outcomes, 'outcome')} {would}removed; the texts of "
        f"{counted(bodies, 'outcome')} {would}removed"
    )
