"""`trackrecord consolidate`: the nightly job, now."""

import time
from dataclasses import asdict
from typing import Any

import click

from trackrecord.embeddings.embedder import embed_everything
from trackrecord.times import iso
from trackrecord_consolidation.report import RunReport
from trackrecord_consolidation.run import consolidate

from ..access import open_store, settings_for
from ..options import json_option, project_option
from ..screen import print_json, print_table


@click.command("consolidate")
@project_option
@json_option
@click.option("--dry-run", is_flag=True, help="Say what would change, change nothing.")
def command(project: str | None, *, dry_run: bool, as_json: bool) -> None:
    """Turn what is new into competence records, as the nightly job does."""
    settings, project = settings_for(project)
    with open_store(settings) as engine:
        report = consolidate(
            engine,
            settings.competence,
            project,
            now=time.time(),
            actor="command line",
            dry_run=dry_run,
        )
        if not dry_run:
            embed_everything(engine, settings.embeddings, now=time.time())
    document = as_document(report)
    if as_json:
        print_json(document)
        return
    changes = document.pop("changes")
    if changes:
        print_table(
            ("what", "competence", "skill", "why"),
            (
                (each["action"], each["competence_id"], each["skill_name"], each["rationale"])
                for each in changes
            ),
        )
    would = "would be " if dry_run else ""
    click.echo(
        f"{report.episodes_read} new episodes of {report.signatures_touched} signatures; "
        f"records {would}created {report.created}, reinforced {report.reinforced}, "
        f"updated {report.updated}; {report.duration_ms:.0f} ms"
    )
    for reason, count in report.skipped.items():
        click.echo(f"skipped {count}: {reason}")


def as_document(report: RunReport) -> dict[str, Any]:
    """A report as JSON shows it."""
    return {
        **asdict(report),
        "started_at": iso(report.started_at),
        "finished_at": iso(report.finished_at),
    }
