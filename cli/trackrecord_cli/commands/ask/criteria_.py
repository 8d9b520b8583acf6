"""`trackrecord criteria`: how far each criterion can be relied on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import BinaryIO

import click

from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.declaration.paging import Order
from trackrecord.resources.experience.criteria import (
    CRITERIA,
    CRITERION_FEEDBACK,
    Criterion,
    WeighingAnswer,
    feedback_of,
)

from ...access import TypedId, own_store, say_removed, say_removed_of
from ...arguments.completing import complete
from ...arguments.options import Read, at_option, json_option, list_options, project_option
from ...output.outcome_ids import outcome_ids
from ...output.screen import console, print_details, print_json, print_table, say_more
from ...output.trends import criterion_trends, trend
from ...resource_commands import group_of

_MOST = 10_000


def _trends(criteria: Sequence[Criterion], project: str, at: float | None) -> list[str]:
    verdicts = {each.name: each.verdicts for each in criteria}
    with read_project(project) as it:
        drawn = criterion_trends(it.connection, it.settings, project, verdicts, at)
    return [drawn.get(each.name, "") for each in criteria]


command = group_of(CRITERIA, drawn={"trend": _trends})


@command.command("show")
@click.argument("criterion", metavar="NAME", shell_complete=complete("criterion"))
@project_option
@at_option
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=_MOST),
    help="Show at most this many pieces of feedback.  [default: 10]",
)
@click.option(
    "--after",
    metavar="CURSOR",
    help="Show the feedback that follows a page: give the cursor that it ended with.",
)
@json_option
def show_criterion(
    criterion: str,
    project: str | None,
    at: float | None,
    limit: int | None,
    after: str | None,
    *,
    as_json: bool,
) -> None:
    """Show one criterion: its numbers, and its feedback, newest first."""
    from trackrecord.resources.experience.criteria import show_criterion as show

    with own_store(project, TypedId(criterion, ("criterion",))) as name:
        details = show(criterion, limit=limit, after=after, at=at, project=name)
        drawn = "" if as_json else _trends([details], name, at)[0]
        is_whole = details.cursor is None
        removed = say_removed_of(name, ("sums", "outcomes"), {"at": at}, is_whole=is_whole)
    if as_json:
        print_json(details.to_document() | removed)
    else:
        print_details(details.to_document() | trend(drawn))


@command.command("feedback")
@click.argument("task_id", metavar="TASK_ID", shell_complete=complete("task"))
@list_options(CRITERION_FEEDBACK, default=100)
def show_feedback(
    task_id: str,
    project: str | None,
    at: float | None,
    limit: int,
    order: Order | None,
    *,
    as_json: bool,
) -> None:
    """Show what the outcomes of one task said about criteria, newest first."""
    from trackrecord.learning.text.times import iso

    with own_store(project) as name, read_project(name, at) as it:
        found = feedback_of(it, task_id)
        shown = CRITERION_FEEDBACK.sorted(found, order)[:limit]
        ids = outcome_ids(it.connection, name, [said.outcome_id or "" for said in shown])
        say_removed(
            it.connection, name, ("outcomes",), {"at": at}, is_whole=len(shown) == len(found)
        )
    if as_json:
        print_json([feedback.to_document() for feedback in shown])
        return
    print_table(
        ("criterion", "verdict", "value", "outcome", "ended at"),
        (
            (
                said.criterion,
                said.verdict,
                said.value,
                ids[said.outcome_id or ""],
                iso(said.ended_at),
            )
            for said in shown
        ),
        about="criterion",
        secondary=("value", "ended at"),
    )
    say_more(len(found) - len(shown), "entries")


def _score(text: str) -> tuple[str, float]:
    from ...arguments.criterion_scores_input import read_score

    return read_score(text)


@command.command("weigh")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), required=False)
@click.option(
    "--score",
    "typed",
    multiple=True,
    type=Read("name=score", _score),
    metavar="NAME=SCORE",
    help="Weigh this score on this criterion, a number from 0 to 1; repeatable.",
)
@project_option
@at_option
@json_option
def weigh_scores(
    source: BinaryIO | None,
    typed: tuple[tuple[str, float], ...],
    project: str | None,
    at: float | None,
    *,
    as_json: bool,
) -> None:
    """Weigh scores on criteria by how far each criterion can be relied on.

    The scores are given with --score, or as a JSON object of numbers from 0 to 1, by criterion, in
    FILE or on standard input. A deprecated criterion has no say.
    """
    from trackrecord.resources.experience import criteria

    from ...arguments.criterion_scores_input import all_scores

    scores = all_scores(source or (None if typed else sys.stdin.buffer), typed)
    with own_store(project) as name:
        weighed = criteria.weigh_scores(scores=scores, at=at, project=name)
        removed = say_removed_of(name, ("sums",), {"at": at})
    if as_json:
        print_json(weighed.to_document() | removed)
    else:
        _print_weighed(weighed)


def _print_weighed(weighed: WeighingAnswer) -> None:
    print_table(
        ("criterion", "score", "weight", "share", "note"),
        (
            (each.criterion, each.score, each.weight, each.share, each.note)
            for each in weighed.parts
        ),
        about="criterion",
        secondary=("note",),
    )
    if weighed.score is None:
        console().print(f"no weighted score: {weighed.note}", markup=False)
    else:
        console().print(f"{weighed.score:.4f} weighted, {weighed.plain_score:.4f} without weights")
