"""`competences select`: which record fits a task best, and how sure that is."""

import time
from typing import Any

import click

from trackrecord.learning.competences.document import Reading
from trackrecord.queries.select_competences import Selection, Selector
from trackrecord.settings import Settings

from ..access import open_store, settings_for
from ..options import at_option, json_option, project_option
from ..screen import print_json, print_table
from .competence_documents import as_document


@click.command("select")
@click.argument("task", required=False)
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=1000),
    default=10,
    show_default=True,
    help="How many candidates are shown.",
)
@project_option
@at_option
@json_option
def select_competences(
    task: str | None, limit: int, project: str | None, at: float | None, *, as_json: bool
) -> None:
    """The records that fit a task, best first, with what their scores are made of.

    TASK is the task's text; without one, each record's confidence takes the place of its
    similarity.
    """
    settings, project = settings_for(project)
    now = time.time() if at is None else at
    with open_store(settings) as engine:
        selector = Selector(engine, settings)
        selection = selector.select(project, task=task, limit=limit, now=now, at=at)
    if as_json:
        print_json(_document(settings, selection, now, task))
        return
    answer = selection.answer
    print_table(
        ("id", "status", "score", "applicability", "success", "recency", "recipe"),
        (
            (
                each.record.id,
                each.record.status.value,
                each.signals.score,
                each.signals.applicability,
                each.signals.success,
                each.signals.recency,
                " > ".join(step.tool for step in each.record.recipe),
            )
            for each in answer.candidates
        ),
    )
    more = "; more information is needed" if answer.choice.needs_more else ""
    click.echo(
        f"{answer.count} candidates; confidence of the choice {answer.choice.confidence:.4f}{more}"
    )


def _document(
    settings: Settings, selection: Selection, now: float, task: str | None
) -> dict[str, Any]:
    answer = selection.answer
    return {
        "task": task,
        "selected": answer.candidates[0].record.id if answer.candidates else None,
        "confidence": answer.choice.confidence,
        "needs_more": answer.choice.needs_more,
        "needs_more_below": settings.competence.needs_more_below,
        "count": answer.count,
        "compared_by": selection.compared_by,
        "candidates": [
            {
                "id": each.record.id,
                "score": each.signals.score,
                "applicability": each.signals.applicability,
                "success": each.signals.success,
                "recency": each.signals.recency,
                "record": as_document(each.record, Reading(now)),
            }
            for each in answer.candidates
        ],
    }
