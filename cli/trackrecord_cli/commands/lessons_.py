"""`trackrecord lessons`: what the calls of tools teach."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from trackrecord.queries.sorting import LESSONS
from trackrecord.resources.paging import Order

from ..access import open_store, read_store, settings_for
from ..by_hand import signed
from ..completing import complete
from ..group import CommandGroup
from ..options import (
    Command,
    OneOf,
    Read,
    at_option,
    json_option,
    list_options,
    name_of,
    project_option,
)
from ..screen import Coloured, print_details, print_json, print_table, say_more, shown_ids

if TYPE_CHECKING:
    from trackrecord.changes.lessons import Action
    from trackrecord.learning.advice.lessons.lesson import Lesson

_KINDS = (
    "fails",
    "never-succeeds",
    "needs-first",
    "loops",
    "goes-with-success",
    "then-works",
)
_STATES = ("seen", "established", "faded")
_COLOURS = {"established": "cyan", "seen": "yellow", "faded": "dim"}
_TOOL = Read("name", name_of(128))


@click.group("lessons", cls=CommandGroup, invoke_without_command=True)
@project_option
@json_option
@click.pass_context
def command(ctx: click.Context, project: str | None, *, as_json: bool) -> None:
    """Show what tool calls teach, and dismiss what does not help.

    Without a command: the page that an import of sessions ends with, of all projects or of one.
    """
    if ctx.invoked_subcommand is None:
        _show_page(project, as_json=as_json)


def _show_page(project: str | None, *, as_json: bool) -> None:
    from trackrecord.queries.agents_work import work_of_agents

    from ..history.page import print_page

    with read_store(project) as (connection, settings, _):
        works = work_of_agents(connection, settings, project)
    if as_json:
        print_json([work.to_document() for work in works])
    elif works:
        print_page(works)
    else:
        click.echo("nothing is on record yet; `trackrecord import all` reads your agents' sessions")


@command.command("list")
@list_options(LESSONS)
@click.option("--tool", type=_TOOL, help="Show only lessons that concern this tool.")
@click.option("--kind", type=OneOf(_KINDS), help="Show only lessons of this kind.")
@click.option("--state", type=OneOf(_STATES), help="Show only lessons in this state.")
@click.option("--all", "everything", is_flag=True, help="Show faded and dismissed lessons, too.")
def list_lessons(
    project: str | None,
    at: float | None,
    limit: int | None,
    order: Order | None,
    tool: str | None,
    kind: str | None,
    state: str | None,
    *,
    as_json: bool,
    everything: bool,
) -> None:
    """List the lessons, strongest first. `show` also names the runs behind a lesson."""
    from trackrecord.queries import lessons

    wanted = lessons.lesson_filter(tool=tool, kind=kind, state=state, everything=everything)
    with read_store(project) as (connection, settings, name):
        found = lessons.list_lessons(connection, settings, name, at=at, wanted=wanted)
    found = LESSONS.sorted(found, order)
    shown = found[:limit]
    if as_json:
        print_json([known.to_document() for known in shown])
        return
    if not shown:
        click.echo(f"no such lessons in project {name!r}")
        return
    ids = shown_ids([known.lesson.id for known in shown], [known.lesson.id for known in found])
    print_table(
        ("id", "state", "kind", "tasks", "lesson"),
        (
            (
                ids[known.lesson.id],
                _state(known.lesson.state, is_dismissed=known.dismissed is not None),
                known.lesson.kind,
                known.lesson.tasks,
                _with_example(known.lesson),
            )
            for known in shown
        ),
    )
    say_more(len(found) - len(shown), "lessons")


def _with_example(lesson: Lesson) -> str:
    """Return what a lesson says, with the line that tells of its error unless it repeats that."""
    said, example = lesson.lines["en"], lesson.example
    return said if not example or example.rstrip(".") in said else f"{said} ({example})"


def _state(state: str, *, is_dismissed: bool) -> Coloured:
    return Coloured("dismissed", "dim") if is_dismissed else Coloured(state, _COLOURS[state])


@command.command("show")
@click.argument("lesson_id", metavar="ID", shell_complete=complete("lesson"))
@project_option
@at_option
@json_option
def show_lesson(lesson_id: str, project: str | None, at: float | None, *, as_json: bool) -> None:
    """Show one lesson: its counts, the newest runs behind it, decisions about it."""
    from trackrecord.queries import lessons

    with read_store(project) as (connection, settings, name):
        details = lessons.show_lesson(connection, settings, name, lesson_id, at=at)
    (print_json if as_json else print_details)(details.to_document())


def _options(command: Command) -> Command:
    options: Callable[[Command], Command] = signed(
        by="Name the person who decides.",
        reason="Give the reason; the history keeps it.",
        reason_required=False,
    )
    return click.argument("lesson_id", metavar="ID", shell_complete=complete("lesson"))(
        options(command)
    )


@command.command("dismiss")
@_options
def dismiss(**given: Any) -> None:  # noqa: ANN401 - handed on by name
    """Dismiss a lesson for good: no prompt shows it until it is restored."""
    _decide("dismiss", **given)


@command.command("restore")
@_options
def restore(**given: Any) -> None:  # noqa: ANN401 - as above
    """Take back the dismissal of a lesson."""
    _decide("restore", **given)


def _decide(
    action: Action,
    *,
    lesson_id: str,
    reason: str | None,
    actor: str,
    project: str | None,
    as_json: bool,
) -> None:
    from trackrecord.changes.lessons import decide_about_lesson

    settings, project = settings_for(project)
    with open_store(settings) as engine:
        decided = decide_about_lesson(
            engine, settings, project, lesson_id, action, by=actor, reason=reason
        )
    if as_json:
        print_json(decided.to_document())
    elif decided.changed:
        click.echo(f"{decided.id}: {'dismissed' if action == 'dismiss' else 'restored'}")
    else:
        said = "was dismissed already" if action == "dismiss" else "was not dismissed"
        click.echo(f"{decided.id}: {said}")
