"""`trackrecord amend`: later evidence of how a run went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trackrecord.learning.text.inert import one_line
from trackrecord.resources.access.project_store import open_project
from trackrecord.resources.reports.amendments import amend_runs
from trackrecord.resources.reports.runs import RunAnswer, find_run, runs_of_commit
from trackrecord.store.database.engine import reading
from trackrecord.wire.join import EVIDENCE

from ...access import TypedId, own_store
from ...arguments.options import (
    REASON,
    OneOf,
    Read,
    actor_option,
    commit_of,
    json_option,
    project_option,
)
from ...output.screen import print_json

if TYPE_CHECKING:
    from trackrecord.resources.reports.amendments import Evidence


@click.command("amend")
@click.argument("outcome_id", metavar="[OUTCOME_ID]", required=False)
@click.option(
    "--success/--failure",
    "success",
    default=None,
    help="Say whether the task reached its goal.",
)
@click.option("--reason", type=REASON, required=True, help="Give the reason; the run keeps it.")
@click.option(
    "--commit",
    type=Read("sha", commit_of),
    help="Amend the runs that made this commit, in place of one by its id.",
)
@click.option(
    "--evidence",
    type=OneOf([*EVIDENCE]),
    default="explicit",
    show_default=True,
    help="Name the kind of evidence; a verdict with stronger evidence stands.",
)
@actor_option("--by", "Name the person or the system that says so.")
@project_option
@json_option
def command(
    outcome_id: str | None,
    commit: str | None,
    project: str | None,
    *,
    success: bool | None,
    reason: str,
    evidence: Evidence,
    actor: str,
    as_json: bool,
) -> int:
    """Say how a run really went, when that is known later.

    Every statistic then stands as if the run had been reported so in the first place. In CI,
    `--commit SHA --evidence tests` tells the runs that made a commit whether its build is green.
    """
    if success is None:
        message = "say --success or --failure"
        raise click.UsageError(message)
    if (outcome_id is None) == (commit is None):
        message = "give the id of an outcome, or --commit with a commit's SHA"
        raise click.UsageError(message)
    about = None if outcome_id is None else TypedId(outcome_id, ("outcome",))
    with own_store(project, about) as name, open_project(name) as store:
        with reading(store.engine) as connection:
            amended: list[RunAnswer]
            if commit is not None:
                amended = runs_of_commit(connection, name, commit)
            else:
                assert outcome_id is not None  # noqa: S101 - one of the two was given
                amended = [find_run(connection, name, outcome_id)]
        changes = amend_runs(
            store.engine,
            store.settings,
            amended,
            success=success,
            evidence=evidence,
            by=actor,
            reason=reason,
        )
    documents = [change.to_document() for change in changes]
    if as_json:
        print_json(documents)
    else:
        for document in documents:
            click.echo(_line(document))
    return 2 if any(change.refused for change in changes) else 0


def _line(document: dict[str, Any]) -> str:
    shown_id = one_line(document["outcome_id"])
    if document["refused"]:
        return f"{shown_id}: set aside: {one_line(document['refused'])}"
    if document["stronger"]:
        return (
            f"{shown_id}: the verdict stays {document['before']}, "
            f"because its evidence is stronger ({document['stronger']})"
        )
    return f"{shown_id}: {document['before']} -> {document['after']}"
