"""`trackrecord competences`: which tool procedures have worked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import click
import msgspec

from trackrecord.learning.competences.new_record import read_new_competence
from trackrecord.learning.text.numerals import counted
from trackrecord.resources.experience.competences import (
    BY_HAND,
    COMPETENCES,
    CompetenceRecord,
    add_procedures,
)
from trackrecord.resources.experience.revise_competences import revision_of

from ...access import own_store, settings_for
from ...arguments.options import (
    REASON,
    actor_option,
    conditions_option,
    json_option,
    project_option,
)
from ...output.drawing import bar
from ...output.screen import print_json, print_table, shown_ids
from ...resource_commands import group_of

if TYPE_CHECKING:
    from trackrecord.resources.experience.recommend_competences import RecommendedProcedures
    from trackrecord.resources.experience.select_competences import SelectionResult


def _print_selection(found: RecommendedProcedures | SelectionResult) -> None:
    from trackrecord.resources.experience.recommend_competences import RecommendedProcedures

    if isinstance(found, RecommendedProcedures):
        _print_recommended(found)
    else:
        _print_selected(found)


def _print_recommended(found: RecommendedProcedures) -> None:
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


@click.command("add")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), required=False)
@click.option("--tool", "tools", multiple=True, help="Name a tool; once for each step, in order.")
@click.option("--trigger", "signals", multiple=True, help="Name a signal that it answers to.")
@conditions_option(
    "Say under which conditions it answers to the signals, for example os=linux. Can be repeated."
)
@click.option("--skill-name", help="Set the name of the skill.  [default: made of the tools]")
@click.option("--tag", "tags", multiple=True, help="Add a tag to the record.")
@click.option(
    "--confidence",
    type=float,
    help="Set the confidence, from 0 to 1.  [default: the setting's, 0.8]",
)
@click.option(
    "--half-life-days",
    type=float,
    help="Set the days without reinforcement after which its salience has halved.  "
    "[default: the setting's, 30]",
)
@click.option("--pinned", is_flag=True, help="Keep its salience from decaying.")
@click.option(
    "--reason",
    type=REASON,
    help="Give the reason; the history keeps it, and outlives the record.",
)
@actor_option("--by", "Name the person who makes the change.")
@project_option
@json_option
def add(
    source: BinaryIO | None,
    actor: str,
    reason: str | None,
    project: str | None,
    *,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - handed on by name
) -> None:
    """Store a procedure by hand, from a file or from options.

    FILE has a JSON object with `tools` (in order), `triggers` and, as far as wanted, `skill_name`,
    `failure_modes`, `tags`, `confidence`, `half_life_days` and `pinned`; or a list of such objects,
    of which all are stored or none. A trigger is a text, or {"signal": …, "conditions": …}.

    Outcomes that name the record count for it, and so do those that use just these tools. Its
    triggers and its recipe stay, whatever is learnt.
    """
    from trackrecord.store.competences.revise import Signed

    is_told = any(value not in (None, (), False) for value in given.values())
    if (source is None) != is_told:
        message = "give either a FILE (- for standard input), or --tool and --trigger"
        raise click.UsageError(message)
    if source is None and not (given["tools"] and given["signals"]):
        message = "name each tool with --tool, and what the procedure answers to with --trigger"
        raise click.UsageError(message)
    settings, name = settings_for(project)
    procedures = [
        read_new_competence(each, settings.competence)
        for each in ([_told(**given)] if source is None else _procedures(source.read()))
    ]
    by = Signed(actor, reason or BY_HAND, time.time())
    with own_store(name):
        added = add_procedures(procedures, by=by.actor, reason=by.rationale, project=name)
    revision = revision_of("added", by, [each.record for each in added])
    if as_json:
        print_json(revision.to_document())
    else:
        click.echo(revision.in_words())


def _told(
    *,
    tools: tuple[str, ...],
    signals: tuple[str, ...],
    conditions: dict[str, str] | None,
    **more: Any,  # noqa: ANN401 - as above
) -> dict[str, Any]:
    triggers = [{"signal": signal, "conditions": conditions} for signal in signals]
    return {"tools": tools, "triggers": triggers, **more}


def _procedures(data: bytes) -> list[Any]:
    try:
        decoded = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        message = f"the file is not JSON: {error}"
        raise click.UsageError(message) from None
    procedures = decoded if isinstance(decoded, list) else [decoded]
    if not procedures or not all(isinstance(each, dict) for each in procedures):
        message = "the file must hold a JSON object, or a list of at least one"
        raise click.UsageError(message)
    return procedures


def _bars(records: Sequence[CompetenceRecord], _project: str) -> list[str]:
    rates = [each.record.performance.success_rate for each in records]
    return [f"{bar(rate)} {rate:.2f}" for rate in rates]


command = group_of(COMPETENCES, drawn={"rate": _bars}, shown={"select": _print_selection})
command.add_command(add)
