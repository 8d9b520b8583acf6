"""`trackrecord benchmark`: the rates of a project's process, their history, and the gate."""

from __future__ import annotations

from dataclasses import astuple

import click

from trackrecord.errors import UnknownProject
from trackrecord.learning.outcomes.gate import CHECKS
from trackrecord.learning.outcomes.rates import RATES
from trackrecord.learning.text.numerals import counted
from trackrecord.learning.text.times import iso
from trackrecord.resources.access.project_store import check_project
from trackrecord.resources.declaration.paging import Order
from trackrecord.resources.figures.benchmark import (
    BENCHMARK,
    BenchmarkRun,
    BenchmarkSnapshot,
    Gate,
    judge_last_run,
    read_benchmark,
)

from ...access import settings_for
from ...arguments.options import OneOf, json_option, project_option, sort_option
from ...output.screen import print_json, print_table, say_more
from ...resource_commands import group_of

_NO = 1
_SORTING = BENCHMARK.sorting("report")
# The columns that a narrow terminal is not shown, the first one first: of what matters least.
_SECONDARY = (
    "proven_share", "hard_limit_hits", "retry_count", "rejection_rate", "test_fail_loops",
    "tool_calls", "mean_score",
)  # fmt: skip


def _print_run(run: BenchmarkSnapshot) -> None:
    print_table(("rate", "value"), [(rate, getattr(run, rate)) for rate in RATES])
    span = "all on record" if run.since is None else f"received since {iso(run.since)}"
    click.echo(f"{counted(run.outcomes, 'outcome')} of project {run.project!r}, {span}")


command = group_of(BENCHMARK, shown={"run": _print_run})


@command.command("report")
@project_option
@json_option
@click.option(
    "--limit",
    "--last",
    "limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=10,
    show_default=True,
    help="Show at most this many runs, the newest ones.",
)
@sort_option(_SORTING)
def show_report(
    project: str | None,
    limit: int,
    order: Order | None,
    *,
    as_json: bool,
) -> None:
    """Show the last runs, oldest first, with the changes between them."""
    settings, project = settings_for(project)
    found = read_benchmark(settings, project)
    shown = _SORTING.sorted(found[-limit:], order)
    if not shown:
        check_project(project)
    if as_json:
        print_json([run.to_document() for run in shown])
        return
    if not shown:
        click.echo(f"no runs of project {project!r}; `trackrecord benchmark run` makes one")
        return
    print_table(
        ("at", "outcomes", *RATES),
        ((iso(run.at), run.outcomes, *_with_changes(run)) for run in shown),
        about="at",
        secondary=_SECONDARY,
    )
    say_more(len(found) - len(shown), "runs")


@command.command("gate")
@project_option
@json_option
@click.option(
    "--check",
    "names",
    type=OneOf(CHECKS),
    multiple=True,
    help="Apply only this check; may be repeated.  [default: all of them]",
)
def pass_gate(project: str | None, names: tuple[str, ...], *, as_json: bool) -> int:
    """Judge the last run: exit status 1 when a threshold fails, or there is nothing to judge."""
    settings, project = settings_for(project)
    gate = judge_last_run(settings, project, names)
    if gate.last is None:
        try:
            check_project(project)
        except UnknownProject as error:
            click.echo(f"trackrecord: {error}", err=True)
    if as_json:
        print_json(gate.to_document())
    else:
        _print(gate)
    return 0 if gate.passed else _NO


def _print(gate: Gate) -> None:
    print_table(
        ("check", "value", "allowed", "result"),
        (
            (
                check.name,
                "no data" if check.value is None else check.value,
                f"{check.operator} {check.threshold:g}",
                "passed" if check.passed else "FAILED",
            )
            for check in gate.checks
        ),
    )
    worst = [(check.name, *astuple(task)) for check in gate.checks for task in check.tasks]
    if worst:
        print_table(("check", "task over the limit", "count"), worst)
    if gate.last is None:
        click.echo("nothing to judge: `trackrecord benchmark run` makes a snapshot")
    elif gate.without_data and gate.is_of_earlier_version:
        click.echo(
            "the last run says nothing of single tasks: run `trackrecord benchmark run` again"
        )
    elif without := gate.without_data:
        others = [check.name for check in gate.checks if check.name not in without]
        choice = " ".join(f"--check {name}" for name in others)
        click.echo(
            f"the outcomes of the last run say nothing about {', '.join(without)}: "
            f"report it, or leave it out with {choice or '--check'}"
        )


def _with_changes(run: BenchmarkRun) -> list[str | None]:
    """Return each rate, with its change since the run before."""
    return [_cell(getattr(run, name), run.changes[name]) for name in RATES]


def _cell(value: float | None, change: float | None) -> str | None:
    if value is None:
        return None
    return f"{value:.2f}" if change is None else f"{value:.2f} ({change:+.2f})"
