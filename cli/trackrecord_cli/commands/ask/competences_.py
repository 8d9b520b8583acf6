"""`trackrecord competences`: which tool procedures have worked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trackrecord.resources.experience.competences import COMPETENCES, CompetenceRecord

from ...access import open_store, settings_for
from ...arguments.options import (
    OneOf,
    asked_conditions_option,
    at_option,
    json_option,
    limit_option,
    project_option,
)
from ...output.drawing import bar
from ...output.screen import print_json, print_table, shown_ids
from ...resource_commands import group_of
from ...subcommands.revising import COMMANDS

if TYPE_CHECKING:
    from trackrecord.resources.experience.recommend_competences import RecommendedProcedures
    from trackrecord.resources.experience.select_competences import By, SelectionResult


@click.command("select")
@click.argument("task", required=False)
@click.option(
    "--by",
    type=OneOf(["advice", "seed"]),
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
@asked_conditions_option
@limit_option("candidates", default=10, most=1000)
@project_option
@at_option
@json_option
def select_competences(
    task: str | None,
    by: By,
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
    if source is not None and by != "advice":
        message = "--source tells whose runs vote; `--by seed` ranks records without votes"
        raise click.UsageError(message)
    from trackrecord.process.logs import configure_logs
    from trackrecord.resources.experience.recommend_competences import RecommendedProcedures
    from trackrecord.resources.experience.select_competences import select_procedures

    configure_logs("warning")
    settings, project = settings_for(project)
    with open_store(settings) as engine:
        found = select_procedures(
            engine,
            settings,
            project,
            task=task,
            by=by,
            conditions=conditions,
            source=source,
            limit=limit,
            at=at,
            with_fallbacks=as_json,
        )
    if as_json:
        print_json(found.to_document())
    elif isinstance(found, RecommendedProcedures):
        _print_recommended(found)
    else:
        _print_selected(found)


def _print_recommended(found: RecommendedProcedures) -> None:
    from trackrecord.resources.operation.status import counted

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
        about="tools",
        secondary=("status", "share"),
    )
    if not found.similar:
        click.echo(
            "no similar task is on record; more information is needed "
            "(--by seed ranks the records themselves)"
        )
        return
    more = "; more information is needed" if found.needs_more else ""
    votes = f"; the first has {found.confidence:.0%} of the votes" if found.candidates else ""
    click.echo(
        f"{counted(found.count, 'candidate')} from {counted(found.similar, 'similar task')}"
        f"{votes}{more}"
    )


def _print_selected(selection: SelectionResult) -> None:
    from trackrecord.resources.operation.status import counted

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
        about="recipe",
        secondary=("recency", "success", "applicability", "status"),
    )
    more = "; more information is needed" if answer.choice.needs_more else ""
    click.echo(
        f"{counted(answer.count, 'candidate')}; "
        f"confidence of the choice {answer.choice.confidence:.4f}{more}"
    )


def _bars(records: Sequence[CompetenceRecord], _project: str) -> list[str]:
    rates = [each.record.performance.success_rate for each in records]
    return [f"{bar(rate)} {rate:.2f}" for rate in rates]


command = group_of(COMPETENCES, drawn={"rate": _bars})
for each_command in (select_competences, *COMMANDS):
    command.add_command(each_command)
