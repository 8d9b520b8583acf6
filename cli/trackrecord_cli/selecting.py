"""`competences select`: which record fits a task best, and how sure that is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from .access import open_store, settings_for
from .options import at_option, json_option, limit_option, project_option
from .screen import print_json, print_table, shown_ids

if TYPE_CHECKING:
    from trackrecord.queries.select_competences import SelectionResult


@click.command("select")
@click.argument("task", required=False)
@limit_option("candidates", default=10, most=1000)
@project_option
@at_option
@json_option
def select_competences(
    task: str | None, limit: int, project: str | None, at: float | None, *, as_json: bool
) -> None:
    """Select the records that fit a task, best first, with what their scores are made of.

    TASK is the task's text; without one, each record's confidence takes the place of its
    similarity.
    """
    from trackrecord.logs import configure_logs
    from trackrecord.queries.select_competences import Selector

    configure_logs("warning")
    settings, project = settings_for(project)
    with open_store(settings) as engine:
        selection = Selector(engine, settings).select(
            project, task=task, limit=limit, now=time.time(), at=at, with_fallbacks=as_json
        )
    if as_json:
        print_json(selection.to_document())
    else:
        _print(selection)


def _print(selection: SelectionResult) -> None:
    from trackrecord.queries.status import counted

    answer = selection.answer
    ids = shown_ids([each.record.id for each in answer.candidates])
    print_table(
        ("id", "status", "score", "applicability", "success", "recency", "recipe"),
        (
            (
                ids[each.record.id],
                each.record.status.value,
                each.signals.score,
                each.signals.applicability,
                each.signals.success,
                each.signals.recency,
                record.tools,
            )
            for each, record in zip(answer.candidates, selection.records, strict=True)
        ),
    )
    more = "; more information is needed" if answer.choice.needs_more else ""
    click.echo(
        f"{counted(answer.count, 'candidate')}; "
        f"confidence of the choice {answer.choice.confidence:.4f}{more}"
    )
