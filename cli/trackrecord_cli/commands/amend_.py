"""`trackrecord amend`: later evidence of how a run went."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from trackrecord.learning.text.inert import one_line

from ..access import open_redis, read_store
from ..by_hand import REASON, actor_option
from ..completing import complete
from ..options import OneOf, Read, commit_of, json_option, project_option
from ..screen import print_json

if TYPE_CHECKING:
    from trackrecord.daemon_settings import DaemonSettings
    from trackrecord.queries.runs import RunOnRecord

    from ..publishing import Published

# The strongest first: see docs/capture.md.
_EVIDENCE: Final = ("evaluator", "explicit", "tests", "heuristic")
_GROUND: Final = "amended"


@click.command("amend")
@click.argument(
    "outcome_id", metavar="[OUTCOME_ID]", required=False, shell_complete=complete("outcome")
)
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
    type=OneOf(_EVIDENCE),
    default="explicit",
    show_default=True,
    help="Name the kind of evidence; a verdict with stronger evidence stands.",
)
@actor_option("--by", "Name the person or the system that says so.")
@click.option("--wait", is_flag=True, help="Wait until the amendment is learnt.")
@project_option
@json_option
def command(
    outcome_id: str | None,
    commit: str | None,
    project: str | None,
    *,
    success: bool | None,
    reason: str,
    evidence: str,
    actor: str,
    wait: bool,
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
    with read_store(project) as (connection, settings, name):
        from trackrecord.queries.runs import runs_of_commit, show_run

        if commit is not None:
            amended = runs_of_commit(connection, name, commit)
        else:
            assert outcome_id is not None  # noqa: S101 - one of the two was given
            amended = [show_run(connection, name, outcome_id)]
    said = {
        "success": success,
        "outcome_source": evidence,
        "grounds": [{"kind": _GROUND, "says": f"{actor}: {reason}"}],
    }
    published = _publish(settings, amended, said, wait=wait)
    return _report(amended, published, success=success, evidence=evidence, as_json=as_json)


def _publish(
    settings: DaemonSettings, amended: list[RunOnRecord], said: dict[str, Any], *, wait: bool
) -> Published:
    from trackrecord.wire.outcome import encode_body
    from trackrecord_producers.given_outcomes import GivenOutcome

    from ..publishing import Publication, wait_until_learnt

    now = time.time()
    given = [
        GivenOutcome(
            run.project,
            run.outcome_id,
            encode_body(
                {
                    "outcome_id": run.outcome_id,
                    "project": run.project,
                    "task_id": run.outcome.task_id,
                    "timestamp": now,
                    **said,
                }
            ),
        )
        for run in amended
    ]
    with open_redis(settings) as client:
        published = Publication(client, settings.keys, None).publish(given)
        if wait:
            wait_until_learnt(client, settings.keys, published)
    return published


def _report(
    amended: list[RunOnRecord],
    published: Published,
    *,
    success: bool,
    evidence: str,
    as_json: bool,
) -> int:
    from trackrecord.queries.runs import verdict_of

    documents = [
        {
            "outcome_id": run.outcome_id,
            "before": verdict_of(run.outcome.success),
            "after": verdict_of(success if _wins(evidence, run) else run.outcome.success),
            "stronger": None if _wins(evidence, run) else run.outcome.outcome_source,
            "refused": published.refused.get(run.outcome_id),
        }
        for run in amended
    ]
    if as_json:
        print_json(documents)
    else:
        for document in documents:
            click.echo(_line(document))
    return 2 if published.refused else 0


def _wins(evidence: str, run: RunOnRecord) -> bool:
    """Return whether the new verdict replaces the one on record; of equal rank the later one."""
    held = run.outcome
    return held.success is None or (
        _EVIDENCE.index(evidence) <= _EVIDENCE.index(held.outcome_source)
    )


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
