"""`trackrecord effect`: whether advice helps, measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click
from msgspec.structs import replace

from trackrecord.learning.advice.effect.comparison import (
    VERDICTS,
    conclusion,
    difference_text,
    interval_text,
    mean_text,
)
from trackrecord.resources.access.project_store import open_project
from trackrecord.resources.figures import effect
from trackrecord.resources.figures.effect import EFFECT_KINDS, measure_effect

from ...access import own_store, read_store
from ...arguments.options import (
    REASON,
    OneOf,
    actor_option,
    json_option,
    limit_option,
    project_option,
)
from ...output.screen import console, print_json, print_table, say_more

if TYPE_CHECKING:
    from trackrecord.learning.advice.effect.comparison import Comparison
    from trackrecord.resources.figures.effect import EffectAnswer

# The columns that compare tasks with and without advice.
_COLUMNS: Final = ("with", "without", "difference", "interval", "verdict")
# Those that a narrow terminal is not shown, the first one first.
_SECONDARY: Final = ("interval", "without", "with")
_USUAL_HOLDOUT = 0.1  # as `store.advice.effect` has it, which the help does not import


@click.command("effect")
@project_option
@json_option
@click.option("--by", "shown", type=OneOf(["kind"]), help="Show each kind of task.")
@limit_option("kinds")
@click.option(
    "--sort",
    help=f"Put the kinds in this order: {', '.join(EFFECT_KINDS.keys)}; with a minus before it, as "
    "in -difference, the largest come first.",
)
@click.option(
    "--enable", is_flag=True, help="Give some tasks no advice, so that both can be compared."
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 0.9, min_open=True),
    help=f"Give this share of tasks no advice; only with --enable.  [default: {_USUAL_HOLDOUT}]",
)
@click.option("--disable", is_flag=True, help="Give all tasks advice again.")
@actor_option("--actor", "Name the person who decides.")
@click.option("--reason", type=REASON, help="Give the reason; it is kept.")
def command(
    project: str | None,
    shown: str | None,
    limit: int | None,
    sort: str | None,
    holdout: float | None,
    actor: str,
    reason: str | None,
    *,
    as_json: bool,
    enable: bool,
    disable: bool,
) -> None:
    """Show whether advice helps: tasks with it beside tasks without.

    Counts tasks that were handed advice under their task_id. --enable gives some tasks
    no advice, drawn by a hash of the project and the task_id; --disable ends it. Both go before the
    setting `holdout`, for this project and on every machine.
    """
    if holdout is not None and not enable:
        message = "--holdout needs --enable"
        raise click.UsageError(message)
    if not (enable or disable):
        _show(project, shown, limit, sort, as_json=as_json)
        return
    if (enable and disable) or any(each is not None for each in (shown, limit, sort)):
        message = "--enable and --disable stand alone; call them one by one"
        raise click.UsageError(message)
    share = 0.0 if disable else _USUAL_HOLDOUT if holdout is None else holdout
    _decide(project, share, actor, reason or "", as_json=as_json)


def _decide(project: str | None, share: float, actor: str, reason: str, *, as_json: bool) -> None:
    with own_store(project) as name, open_project(name) as store:
        decision = effect.hold_out(
            store.engine, store.settings, name, share, by=actor, reason=reason
        )
    if as_json:
        print_json({"project": name, **vars(decision)})
    else:
        click.echo(effect.said_of(name, decision))


def _show(
    project: str | None,
    shown: str | None,
    limit: int | None,
    sort: str | None,
    *,
    as_json: bool,
) -> None:
    if shown is None and (limit or sort):
        message = "--limit and --sort are for the list of --by kind"
        raise click.UsageError(message)
    kinds = EFFECT_KINDS.order(sort) if sort and shown == "kind" else None
    with read_store(project) as (connection, settings, name):
        every = measure_effect(connection, name, setting=settings.holdout)
    found, beyond = every, 0
    if shown == "kind":
        found = replace(every, kinds=tuple(EFFECT_KINDS.sorted(every.kinds, kinds)[:limit]))
        beyond = len(every.kinds) - len(found.kinds)
    if as_json:
        print_json(found.to_document())
    elif shown == "kind":
        _print_kinds(found)
        say_more(beyond, "kinds of task")
    else:
        _print_overall(found)


def _print_overall(found: EffectAnswer) -> None:
    report = found.report
    if report.tasks != (0, 0):
        rows = [(each.measure.name, *_cells(each)) for each in report.overall]
        print_table(("measure", *_COLUMNS), rows, about="measure", secondary=_SECONDARY)
    out = console()
    for line in conclusion(report):
        out.print(line, markup=False)
    holdout = f"{100 * found.holdout:g}% of the tasks are withheld advice now"
    out.print(
        f"{holdout}. Tasks without an outcome yet: {sum(report.open)}. Tasks for which there was "
        f"nothing to hand out: {report.empty}.",
        markup=False,
    )
    for line in found.hints.in_words:
        out.print(line, markup=False)


def _print_kinds(found: EffectAnswer) -> None:
    if not found.kinds:
        click.echo(f"no task of project {found.project!r} ended with or without advice")
        return
    rows = [(each.kind, *_cells(each.comparison)) for each in found.kinds]
    print_table(("kind of task", *_COLUMNS), rows, about="kind of task", secondary=_SECONDARY)


def _cells(found: Comparison) -> tuple[str, ...]:
    return (
        mean_text(found, found.given),
        mean_text(found, found.withheld),
        difference_text(found),
        interval_text(found),
        VERDICTS[found.verdict],
    )
