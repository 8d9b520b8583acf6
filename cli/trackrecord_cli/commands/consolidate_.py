"""`trackrecord consolidate`: the nightly job, now."""

import time
from dataclasses import asdict
from typing import Any

import click

from trackrecord.embeddings.embedder import embed_everything
from trackrecord.settings import Settings
from trackrecord.store.competences.runs import StoredRun, read_runs
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
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
@click.option("--history", is_flag=True, help="List the last runs instead of starting one.")
def command(project: str | None, *, dry_run: bool, history: bool, as_json: bool) -> None:
    """Turn what is new into competence records, as the nightly job does."""
    if dry_run and history:
        message = "--history starts no run: leave --dry-run out"
        raise click.UsageError(message)
    settings, project = settings_for(project)
    if history:
        _show_history(settings, project, as_json=as_json)
        return
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


def _show_history(settings: Settings, project: str, *, as_json: bool) -> None:
    with open_store(settings) as engine, reading(engine) as connection:
        project_id = project_id_of(connection, project)
        runs = [] if project_id is None else read_runs(connection, project_id)
    if as_json:
        print_json({"project": project, "runs": [_run_as_document(run) for run in runs]})
        return
    if not runs:
        click.echo(f"No run has read episodes of project {project!r} yet.")
        return
    print_table(
        ("started", "by", "took", "episodes", "created", "reinforced", "updated", "skipped"),
        (
            (
                iso(run.started_at),
                run.actor,
                "not finished" if run.duration_ms is None else f"{run.duration_ms:.0f} ms",
                run.episodes_read,
                run.records_created,
                run.records_reinforced,
                run.records_updated,
                ", ".join(f"{count} {reason}" for reason, count in run.skipped.items()),
            )
            for run in runs
        ),
    )


def _run_as_document(run: StoredRun) -> dict[str, Any]:
    finished_at = None if run.finished_at is None else iso(run.finished_at)
    return {**asdict(run), "started_at": iso(run.started_at), "finished_at": finished_at}


def as_document(report: RunReport) -> dict[str, Any]:
    """A report as JSON shows it."""
    return {
        **asdict(report),
        "started_at": iso(report.started_at),
        "finished_at": iso(report.finished_at),
    }
