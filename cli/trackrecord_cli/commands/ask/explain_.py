"""`trackrecord explain`: the reasons for a standing."""

from __future__ import annotations

from collections.abc import Iterable

import click

from trackrecord.resources.figures.explanations import explain, explain_procedure, explain_run

from ...access import TypedId, own_store
from ...arguments.options import json_option, project_option
from ...output.screen import console, print_json

_KINDS = ("pattern", "record", "memory", "criterion")


@click.command("explain")
@click.argument(
    "some_id",
    metavar="[ID]",
    required=False,
)
@click.option(
    "--procedure",
    metavar="TOOLS",
    help="Explain how often a procedure succeeds instead: the names of its tools, joined with +.",
)
@click.option(
    "--run",
    "outcome_id",
    metavar="OUTCOME",
    help="Explain on what grounds the run of an outcome has its verdict instead.",
)
@click.option("--task", metavar="TEXT", help="Answer for a task with this text.")
@project_option
@json_option
def command(
    some_id: str | None,
    procedure: str | None,
    outcome_id: str | None,
    task: str | None,
    project: str | None,
    *,
    as_json: bool,
) -> None:
    """Explain why something stands where it stands.

    Shows the numbers of a pattern, a criterion, a competence record or a memory, the rule that
    decided, and what it would take to change it. Where a pattern and a criterion share a name,
    `criterion:NAME` is the criterion. With --procedure, there is an answer for every procedure,
    also for one that always failed or was never tried. With --run, the grounds of a run's verdict
    are shown.
    """
    if [some_id, procedure, outcome_id].count(None) != 2:
        message = "give either an ID, --procedure TOOLS or --run OUTCOME"
        raise click.UsageError(message)
    if task is not None and procedure is None:
        message = "--task needs --procedure"
        raise click.UsageError(message)
    if procedure is not None and not procedure.strip(" +"):
        message = "--procedure names no tool: join the names of its tools with +"
        raise click.UsageError(message)
    about = None
    if outcome_id is not None:
        about = TypedId(outcome_id, ("outcome",))
    elif some_id is not None:
        about = TypedId(some_id, _KINDS)
    with own_store(project, about) as name:
        if procedure is not None:
            explained = explain_procedure(procedure, task=task, project=name)
        elif outcome_id is not None:
            explained = explain_run(outcome_id, project=name)
        else:
            explained = explain(str(some_id), project=name)
    if as_json:
        print_json(explained.to_document())
        return
    console().print(explained.id, style="bold", markup=False)
    _print_lines("", explained.because)
    _print_lines("what would change it:", explained.to_change)
    _print_lines("these numbers follow other rules, so a rebuild is due:", explained.rebuild_due)


def _print_lines(heading: str, lines: Iterable[str]) -> None:
    out = console()
    lines = list(lines)
    if heading and lines:
        out.print(heading, style="bold")
    for line in lines:
        out.print(f"  {line}", markup=False)
