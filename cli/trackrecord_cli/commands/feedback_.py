"""`trackrecord feedback`: verdicts on one pattern, criterion or memory alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from trackrecord.queries.sorting import FEEDBACK
from trackrecord.resources.paging import Order

from ..access import open_store, read_store, settings_for
from ..group import CommandGroup
from ..options import Command, OneOf, Read, json_option, list_options, name_of, project_option
from ..screen import print_json, print_table, say_more

if TYPE_CHECKING:
    from trackrecord.wire.feedback import Verdict

_VERDICTS = ("helpful", "harmful", "neutral")
_MAX_NAME = 128
_MAX_LABEL = 256
_MAX_PATTERN = 1024
_FEW = 100


@click.group("feedback", cls=CommandGroup)
def command() -> None:
    """Judge single patterns, criteria and memories, and list the verdicts."""


def _subject_options(command: Command) -> Command:
    for option, most, what in (
        ("--memory", _MAX_NAME, "memory of this id"),
        ("--criterion", _MAX_NAME, "criterion of this name"),
        ("--pattern", _MAX_PATTERN, "pattern of this name or id"),
    ):
        add: Callable[[Command], Command] = click.option(
            option, type=Read("name", name_of("name", most)), help=f"Name the {what}."
        )
        command = add(command)
    return command


@command.command("give")
@click.argument("verdict", type=OneOf(_VERDICTS), metavar="helpful|harmful|neutral")
@_subject_options
@project_option
@json_option
@click.option(
    "--task",
    "task_id",
    type=Read("id", name_of("task's id", _MAX_LABEL)),
    help="Name the task in which it showed.",
)
@click.option(
    "--source",
    type=Read("name", name_of("source's name", _MAX_LABEL)),
    help="Name who gives the feedback.",
)
@click.option(
    "--id",
    "feedback_id",
    type=Read("id", name_of("feedback's id", _MAX_NAME)),
    help="Set the idempotency key: the same one again changes nothing.  [default: a new one]",
)
def give_feedback(
    verdict: Verdict,
    pattern: str | None,
    criterion: str | None,
    memory: str | None,
    project: str | None,
    task_id: str | None,
    source: str | None,
    feedback_id: str | None,
    *,
    as_json: bool,
) -> None:
    """Judge one pattern, criterion or memory; it counts as the verdict of one outcome would.

    A memory is confirmed or rejected. The id of an anti-pattern names the pattern that it warns of,
    and the verdict is on that pattern.
    """
    from trackrecord.changes import feedback
    from trackrecord.wire.feedback import FeedbackBody
    from trackrecord_producers.ids import new_id

    if sum(each is not None for each in (pattern, criterion, memory)) != 1:
        message = "name exactly one of --pattern, --criterion and --memory"
        raise click.UsageError(message)
    settings, name = settings_for(project)
    body = FeedbackBody(
        verdict=verdict,
        pattern=pattern,
        criterion=criterion,
        memory=memory,
        feedback_id=feedback_id,
        task_id=task_id,
        source=source,
        project=name,
    )
    with open_store(settings) as engine:
        given = feedback.give_feedback(engine, settings, name, body, feedback_id=new_id())
    if as_json:
        print_json(given.to_document())
    elif given.is_new:
        click.echo(given.feedback.feedback_id)
    else:
        click.echo(f"{given.feedback.feedback_id}: counted already")


@command.command("list")
@_subject_options
@list_options(FEEDBACK, default=_FEW)
@click.option("--task", "task_id", metavar="TASK_ID", help="List only the verdicts of this task.")
@click.option(
    "--waiting",
    "is_waiting",
    is_flag=True,
    help="List only the verdicts on what the project does not know yet.",
)
def list_feedback(
    pattern: str | None,
    criterion: str | None,
    memory: str | None,
    project: str | None,
    at: float | None,
    limit: int,
    order: Order | None,
    task_id: str | None,
    *,
    is_waiting: bool,
    as_json: bool,
) -> None:
    """List verdicts on single patterns, criteria and memories, newest first."""
    from trackrecord.queries import feedback

    with read_store(project) as (connection, settings, name):
        wanted = feedback.wanted_feedback(
            settings, pattern=pattern, criterion=criterion, memory=memory, task_id=task_id,
            is_waiting=is_waiting,
        )  # fmt: skip
        found = feedback.list_feedback(connection, name, wanted, at=at, limit=limit, order=order)
        total = feedback.count_listed_feedback(connection, name, wanted, at=at)
    documents = [each.to_document() for each in found]
    if as_json:
        print_json(documents)
        return
    if not documents:
        click.echo(f"no such verdicts in project {name!r}")
        return
    columns = (
        "feedback_id", "subject", "name", "verdict", "task_id", "source", "given_at", "is_waiting",
    )  # fmt: skip
    print_table(columns, ([document[column] for column in columns] for document in documents))
    say_more(total - len(documents), "verdicts")
