"""`competences select`: which procedure fits a task best, and how sure that is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from .access import open_store, read_store, settings_for
from .options import at_option, conditions_option, json_option, limit_option, project_option
from .screen import print_json, print_table, shown_ids

if TYPE_CHECKING:
    from trackrecord.queries.recommend_competences import RecommendedProcedures
    from trackrecord.queries.select_competences import SelectionResult


@click.command("select")
@click.argument("task", required=False)
@click.option(
    "--by",
    type=click.Choice(["advice", "seed"]),
    default="advice",
    show_default=True,
    help="Rank procedures by the votes of similar tasks, or records by the mean of three signals.",
)
@click.option(
    "--source",
    default=None,
    help="Let only the runs of this agent vote, by the `source` of its outcomes.  "
    "[default: all of them]",
)
@conditions_option
@limit_option("candidates", default=10, most=1000)
@project_option
@at_option
@json_option
def select_competences(
    task: str | None,
    by: str,
    source: str | None,
    conditions: dict[str, str] | None,
    limit: int,
    project: str | None,
    at: float | None,
    *,
    as_json: bool,
) -> None:
    """Select the procedures that fit a task, best first, and say how sure the choice is.

    TASK is the task's text. By `advice`, each success of a similar task votes for the tools that
    it used, and the confidence is the share of the votes; without TASK all successes vote. By
    `seed`, records are ranked by the mean of applicability, success and recency; without TASK,
    each record's confidence takes the place of its similarity.
    """
    if by == "advice":
        _recommend(task, source, conditions, limit, project, at, as_json=as_json)
    elif source is not None:
        message = "--source tells whose runs vote; `--by seed` ranks records without votes"
        raise click.UsageError(message)
    else:
        _select(task, conditions, limit, project, at, as_json=as_json)


def _recommend(
    task: str | None,
    source: str | None,
    conditions: dict[str, str] | None,
    limit: int,
    project: str | None,
    at: float | None,
    *,
    as_json: bool,
) -> None:
    from trackrecord.queries.recommend_competences import recommend_competences

    with read_store(project) as (connection, settings, name):
        found = recommend_competences(
            connection,
            settings,
            name,
            task=task,
            limit=limit,
            source=source,
            at=at,
            conditions=conditions,
        )
    if as_json:
        print_json(found.to_document())
    else:
        _print_recommended(found)


def _print_recommended(found: RecommendedProcedures) -> None:
    from trackrecord.queries.status import counted

    ids = shown_ids([each.record.id for each in found.candidates if each.record])
    print_table(
        ("id", "status", "share", "worked", "tools"),
        (
            (
                ids[each.record.id] if each.record else None,
                each.record.record.status.value if each.record else None,
                each.share,
                f"{each.successes}/{each.successes + each.failures}",
                " > ".join(each.tools) or "no tool",
            )
            for each in found.candidates
        ),
    )
    if not found.similar:
        click.echo("no similar task is on record; more information is needed")
        return
    more = "; more information is needed" if found.needs_more else ""
    votes = f"; the first has {found.confidence:.0%} of the votes" if found.candidates else ""
    click.echo(
        f"{counted(found.count, 'candidate')} from {counted(found.similar, 'similar task')}"
        f"{votes}{more}"
    )


def _select(
    task: str | None,
    conditions: dict[str, str] | None,
    limit: int,
    project: str | None,
    at: float | None,
    *,
    as_json: bool,
) -> None:
    from trackrecord.logs import configure_logs
    from trackrecord.queries.select_competences import Selector

    configure_logs("warning")
    settings, project = settings_for(project)
    with open_store(settings) as engine:
        selection = Selector(engine, settings).select(
            project,
            task=task,
            limit=limit,
            now=time.time(),
            at=at,
            with_fallbacks=as_json,
            conditions=conditions,
        )
    if as_json:
        print_json(selection.to_document())
    else:
        _print_selected(selection)


def _print_selected(selection: SelectionResult) -> None:
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
