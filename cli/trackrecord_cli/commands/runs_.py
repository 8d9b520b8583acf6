"""`trackrecord runs`: what came in, run by run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trackrecord.queries.sorting import RUNS

from ..access import read_store
from ..completing import complete
from ..group import CommandGroup
from ..options import (
    OneOf,
    Read,
    at_option,
    commit_of,
    json_option,
    list_options,
    name_of,
    project_option,
)
from ..outcome_ids import outcome_ids
from ..screen import Coloured, on_terminal, print_details, print_json, print_table, say_more

if TYPE_CHECKING:
    from trackrecord.queries.runs import RunOnRecord
    from trackrecord.resources.paging import Order

_VERDICTS = ("success", "failure", "none")
_COLOURS = {"success": "green", "failure": "red", "none": "dim"}
_DEFAULT_LIMIT = 20
_SHOWN_CHARS = 60


@click.group("runs", cls=CommandGroup)
def command() -> None:
    """Show what came in: each run's calls, its verdict and the grounds for it."""


@command.command("list")
@list_options(RUNS, default=_DEFAULT_LIMIT)
@click.option(
    "--source",
    type=Read("name", name_of(256)),
    help="Show only runs that this agent reported.",
)
@click.option("--verdict", type=OneOf(_VERDICTS), help="Show only runs with this verdict.")
@click.option(
    "--ground",
    type=Read("kind", name_of(256)),
    help="Show only runs whose verdict rests on this kind of evidence, such as interrupted.",
)
@click.option(
    "--tool",
    type=Read("name", name_of(256)),
    help="Show only runs that called this tool.",
)
@click.option(
    "--failed",
    is_flag=True,
    help="Show only runs in which a call failed: of the tool, if --tool names one.",
)
@click.option(
    "--task",
    "task_id",
    type=Read("id", name_of(256)),
    shell_complete=complete("task"),
    help="Show only runs of the task with this id.",
)
@click.option("--commit", type=Read("sha", commit_of), help="Show only runs that made this commit.")
def list_(
    project: str | None,
    at: float | None,
    limit: int,
    order: Order | None,
    *,
    as_json: bool,
    **wanted: Any,  # noqa: ANN401 - the fields of RunFilter, by name
) -> None:
    """List the runs that ended last, the newest first."""
    from trackrecord.queries.runs import RunFilter, count_runs, list_runs

    asked = RunFilter(**wanted)
    with read_store(project) as (connection, _, name):
        # One more than is shown tells whether there are more.
        found = list_runs(connection, name, at=at, wanted=asked, limit=limit + 1, order=order)
        total = len(found)
        if total > limit and asked == RunFilter():
            total = count_runs(connection, name, at=at)
        ids = outcome_ids(connection, name, [run.outcome_id for run in found[:limit]])
    shown = found[:limit]
    if as_json:
        print_json([run.to_document() for run in shown])
        return
    if not shown:
        click.echo(f"no such runs in project {name!r}")
        return
    print_table(
        ("outcome", "source", "ended", "verdict", "because", "calls", "failed", "instruction"),
        (_row(run, ids[run.outcome_id]) for run in shown),
    )
    # To count what a filter lets through, each run on record would have to be read.
    say_more(total - len(shown), "runs", is_exact=asked == RunFilter())


def _row(run: RunOnRecord, shown_id: str) -> tuple[object, ...]:
    from trackrecord.queries.runs import failed, verdict_of
    from trackrecord.times import iso

    said = run.outcome
    verdict = verdict_of(said.success)
    calls = said.tool_graph or ()
    instruction = said.instruction or ""
    return (
        shown_id,
        said.source,
        iso(run.ended_at),
        Coloured(verdict, _COLOURS[verdict]),
        ", ".join(dict.fromkeys(ground.kind for ground in said.grounds or ()))
        or (None if said.success is None else said.outcome_source),
        len(calls),
        sum(map(failed, calls)),
        instruction[:_SHOWN_CHARS] if on_terminal() else instruction,
    )


@command.command("show")
@click.argument("outcome_id", metavar="OUTCOME_ID", shell_complete=complete("outcome"))
@project_option
@at_option
@json_option
def show(outcome_id: str, project: str | None, at: float | None, *, as_json: bool) -> None:
    """Show one run: its calls, its verdict, the grounds, and later amendments."""
    from trackrecord.queries.runs import show_run

    with read_store(project) as (connection, _, name):
        run = show_run(connection, name, outcome_id, at=at)
    (print_json if as_json else print_details)(run.to_document())
