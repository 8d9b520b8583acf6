"""`trackrecord consolidate`: the nightly job, now."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from trackrecord.embeddings.embedder import embed_everything
from trackrecord.learning.text.numerals import counted
from trackrecord.learning.text.times import iso
from trackrecord.process.logs import configure_logs
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.declaration.paging import Order, sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant
from trackrecord.store.competences.consolidation.runs import read_runs
from trackrecord.store.database.engine import reading
from trackrecord.store.intake.status import read_store_status
from trackrecord_consolidation.run import consolidate

from ...access import open_store, read_store, settings_for
from ...arguments.options import json_option, project_option, sort_option
from ...output.screen import print_json, print_table, say_more, telling_what_was_done, working

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from trackrecord_consolidation.report import RunReport


class ConsolidationRun(Answer, frozen=True, kw_only=True):
    """A run over a project's episodes.

    Attributes:
        project: whose episodes were read.
        actor: who started it.
        started_at: when.
        finished_at: when it was done; null: it is running, or it died.
        duration_ms: how long it took.
        episodes_read: episodes that were new.
        signatures_touched: procedures that they belong to.
        records_created: records that are new.
        records_reinforced: records with new successes.
        records_updated: records that changed in another way.
        skipped: what changed no record, by reason.
    """

    project: str
    actor: str
    started_at: Instant
    finished_at: Instant | None
    duration_ms: float | None
    episodes_read: int
    signatures_touched: int
    records_created: int
    records_reinforced: int
    records_updated: int
    skipped: dict[str, int]


class ConsolidationRuns(Answer, frozen=True):
    """The last runs over a project's episodes.

    Attributes:
        project: whose episodes.
        runs: as they are on record.
    """

    project: str
    runs: tuple[ConsolidationRun, ...]


CONSOLIDATION_RUNS: Final = sorting_of(
    "runs", "started_at", started="started_at", took="duration_ms", episodes="episodes_read"
)


def last_runs(connection: Connection, project: str) -> ConsolidationRuns:
    """Return the runs over a project's episodes, the newest first.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    row = project_row(connection, project)
    runs = (ConsolidationRun(project=project, **each) for each in read_runs(connection, row))
    return ConsolidationRuns(project, tuple(runs))


_FEW = 10
_LEFT = (
    "the episodes that were read stay read, and nothing is half done: the next run, the nightly "
    "one or `trackrecord consolidate`, does the rest"
)


@click.command("consolidate")
@project_option
@json_option
@click.option("--dry-run", is_flag=True, help="Print what would change, and change nothing.")
@click.option("--history", is_flag=True, help="List the last runs instead of starting one.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show at most this many of the last runs, with --history.  [default: 10]",
)
@sort_option(CONSOLIDATION_RUNS)
def command(
    project: str | None,
    limit: int | None,
    order: Order | None,
    *,
    dry_run: bool,
    history: bool,
    as_json: bool,
) -> None:
    """Turn new episodes into competence records now.

    The nightly job does the same for all projects.
    """
    if dry_run and history:
        message = "--history starts no run: leave --dry-run out"
        raise click.UsageError(message)
    if (limit or order) and not history:
        message = "--limit and --sort are for the list of --history"
        raise click.UsageError(message)
    if history:
        _show_history(project, limit or _FEW, order, as_json=as_json)
        return
    configure_logs("warning")
    settings, project = settings_for(project)
    with (
        telling_what_was_done(lambda: "nothing was changed" if dry_run else _LEFT),
        open_store(settings) as engine,
    ):
        with reading(engine) as connection:
            waiting = read_store_status(connection, project_row(connection, project))
        total = waiting.waiting_episodes
        with working("reading episodes", total=total) as read:
            report = consolidate(
                engine,
                settings.competence,
                project,
                now=time.time(),
                actor="command line",
                dry_run=dry_run,
                report_read=read,
            )
        if not dry_run:
            with working("embedding tasks"):
                embed_everything(engine, settings.embeddings, now=time.time())
    document = _document(report)
    if as_json:
        print_json(document)
        return
    if document["changes"]:
        columns = ("action", "competence_id", "skill_name", "rationale")
        print_table(
            ("what", "competence", "skill", "why"),
            ([change[name] for name in columns] for change in document["changes"]),
        )
    click.echo(_summary(report, dry_run=dry_run))
    for reason, count in report.skipped.items():
        click.echo(f"skipped {count}: {reason}")


def _show_history(project: str | None, limit: int, order: Order | None, *, as_json: bool) -> None:
    with read_store(project) as (connection, _, name):
        every = last_runs(connection, name)
    newest = CONSOLIDATION_RUNS.sorted(every.runs[:limit], order)
    if as_json:
        print_json(ConsolidationRuns(name, tuple(newest)).to_document())
        return
    if not newest:
        click.echo(f"No run has read episodes of project {name!r} yet.")
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
            for run in newest
        ),
        about="skipped",
        secondary=("took", "by", "updated", "reinforced"),
    )
    say_more(len(every.runs) - len(newest), "runs")


def _document(report: RunReport) -> dict[str, Any]:
    return {
        **asdict(report),
        "started_at": iso(report.started_at),
        "finished_at": iso(report.finished_at),
    }


def _summary(report: RunReport, *, dry_run: bool) -> str:
    would = "would be " if dry_run else ""
    return (
        f"{counted(report.episodes_read, 'new episode')} of "
        f"{counted(report.signatures_touched, 'signature')}; "
        f"records {would}created {report.created}, reinforced {report.reinforced}, "
        f"updated {report.updated}; {report.duration_ms:.0f} ms"
    )
