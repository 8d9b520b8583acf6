"""`trackrecord benchmark`: the rates of a project's process, their history, and the gate."""

import time
from dataclasses import asdict
from typing import Any

import click

from trackrecord.benchmark_history import BenchmarkHistory
from trackrecord.learning.benchmark.gate import CHECKS, judge
from trackrecord.learning.benchmark.rates import RATES, Snapshot, changes
from trackrecord.settings import Settings
from trackrecord.store.benchmark.rates import read_snapshot
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.times import iso

from ..access import open_store, settings_for
from ..options import MOMENT, at_option, json_option, project_option
from ..screen import print_json, print_table

_NO = 1


@click.group("benchmark")
def command() -> None:
    """How a project's work goes: rates, their history, and a gate for CI."""


@command.command("run")
@project_option
@json_option
@click.option(
    "--since",
    type=MOMENT,
    default=None,
    help="Only outcomes received from then on.  [default: all on record]",
)
def run_benchmark(project: str | None, since: float | None, *, as_json: bool) -> None:
    """Compute a snapshot of the project's rates, and append it to the history."""
    settings, project = settings_for(project)
    with open_store(settings) as engine, reading(engine) as connection:
        taken = read_snapshot(
            connection,
            project_id_of(connection, project),
            settings.rules,
            now=time.time(),
            since=since,
        )
    history = _history(settings, project)
    history.append(taken, keep=settings.benchmark.history_max)
    if as_json:
        print_json(as_document(project, taken))
        return
    print_table(("rate", "value"), [(name, getattr(taken, name)) for name in RATES])
    click.echo(f"{taken.outcomes} outcomes of project {project!r}, {_span(taken)}")


@command.command("report")
@project_option
@at_option
@json_option
@click.option(
    "--last", type=click.IntRange(min=1), default=10, show_default=True, help="How many runs."
)
def show_report(project: str | None, at: float | None, last: int, *, as_json: bool) -> None:
    """The last runs, oldest first, with the changes between them."""
    settings, project = settings_for(project)
    runs = _runs(settings, project, at)
    shown = list(zip([None, *runs], runs, strict=False))[-last:]
    if as_json:
        print_json(
            [as_document(project, run) | {"changes": changes(before, run)} for before, run in shown]
        )
        return
    if not shown:
        click.echo(f"no runs of project {project!r}; `trackrecord benchmark run` makes one")
        return
    print_table(
        ("at", "outcomes", *RATES),
        (
            (iso(run.at), run.outcomes, *_with_changes(before, run))
            for before, run in shown
        ),
    )  # fmt: skip


@command.command("gate")
@project_option
@at_option
@json_option
@click.option(
    "--check",
    "names",
    type=click.Choice(CHECKS),
    multiple=True,
    help="Only this check; may be repeated.  [default: all of them]",
)
def pass_gate(
    project: str | None, at: float | None, names: tuple[str, ...], *, as_json: bool
) -> int:
    """Judge the last run: exit status 1 when a threshold fails, or there is nothing to judge."""
    settings, project = settings_for(project)
    runs = _runs(settings, project, at)
    last = runs[-1] if runs else None
    checks = judge(settings.benchmark, last, names or CHECKS)
    passed = all(check.passed for check in checks)
    if as_json:
        print_json(
            {
                "project": project,
                "passed": passed,
                "at": None if last is None else iso(last.at),
                "outcomes": 0 if last is None else last.outcomes,
                "checks": [asdict(check) for check in checks],
            }
        )
    else:
        print_table(
            ("check", "value", "allowed", "result"),
            (
                (
                    check.name,
                    "no data" if check.value is None else check.value,
                    f"{check.operator} {check.threshold:g}",
                    "passed" if check.passed else "FAILED",
                )
                for check in checks
            ),
        )
        if last is None:
            click.echo("nothing to judge: `trackrecord benchmark run` makes a snapshot")
    return 0 if passed else _NO


def _runs(settings: Settings, project: str, at: float | None) -> list[Snapshot]:
    runs = _history(settings, project).snapshots()
    return runs if at is None else [run for run in runs if run.at <= at]


def _history(settings: Settings, project: str) -> BenchmarkHistory:
    return BenchmarkHistory(settings.home, project, warn=_warn)


def _warn(message: str) -> None:
    click.echo(f"trackrecord: {message}", err=True)


def as_document(project: str, run: Snapshot) -> dict[str, Any]:
    """A snapshot as JSON shows it."""
    return {"project": project, **asdict(run), "at": iso(run.at), "since": iso(run.since)}


def _span(run: Snapshot) -> str:
    return "all on record" if run.since is None else f"received since {iso(run.since)}"


def _with_changes(before: Snapshot | None, run: Snapshot) -> list[str | None]:
    """Each rate, with its change since the run before."""
    by_name = changes(before, run)
    return [_cell(getattr(run, name), by_name[name]) for name in RATES]


def _cell(value: float | None, change: float | None) -> str | None:
    if value is None:
        return None
    return f"{value:.2f}" if change is None else f"{value:.2f} ({change:+.2f})"
