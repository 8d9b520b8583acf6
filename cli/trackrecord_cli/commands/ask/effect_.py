"""`trackrecord effect`: whether advice helps, measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from trackrecord.learning.text.inert import one_line
from trackrecord.resources.access.project_store import open_project
from trackrecord.resources.figures.effect import EFFECT_ENTRIES, EFFECT_KINDS

from ...access import TypedId, own_store, read_store
from ...arguments.decision_options import REASON, actor_option
from ...arguments.options import (
    OneOf,
    Read,
    json_option,
    limit_option,
    name_of,
    project_option,
)
from ...output.effect_cells import COLUMNS, SECONDARY, cells
from ...output.screen import console, print_json, print_table, say_more, shown_ids

if TYPE_CHECKING:
    from trackrecord.resources.figures.effect import EffectAnswer

_USUAL_HOLDOUT = 0.1  # as `store.advice.effect` has it, which the help does not import
_ENTRY = Read("id", name_of(512))


@click.command("effect")
@project_option
@json_option
@click.option(
    "--by",
    "shown",
    type=OneOf(["kind", "entry"]),
    help="Show each kind of task, or each entry that was handed out.",
)
@limit_option("kinds or entries")
@click.option(
    "--sort",
    help="Put the kinds or entries in this order: "
    f"{', '.join({**EFFECT_KINDS.keys, **EFFECT_ENTRIES.keys})}; with a minus before it, as in "
    "-difference, the largest come first.",
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
@click.option("--withdraw", type=_ENTRY, help="Take the entry with this id out of all advice.")
@click.option(
    "--restore", type=_ENTRY, help="Put the entry with this id into advice again, for good."
)
@actor_option("--actor", "Name the person who decides.")
@click.option("--reason", type=REASON, help="Give the reason; it is kept.")
def command(
    project: str | None,
    shown: str | None,
    limit: int | None,
    sort: str | None,
    holdout: float | None,
    withdraw: str | None,
    restore: str | None,
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
    setting `holdout`, for this project and on every machine. An entry that hurts is withdrawn by
    itself; --withdraw and --restore go before what was measured.
    """
    actions = _actions(enable, disable, withdraw, restore, holdout)
    if not actions:
        _show(project, shown, limit, sort, as_json=as_json)
        return
    if len(actions) > 1 or any(each is not None for each in (shown, limit, sort)):
        message = "--enable, --disable, --withdraw and --restore stand alone; call them one by one"
        raise click.UsageError(message)
    (decision,) = actions
    _decide(project, *decision, actor, reason or "", as_json=as_json)


def _actions(
    enable: bool, disable: bool, withdraw: str | None, restore: str | None, holdout: float | None
) -> list[tuple[str, str, float | None]]:
    if holdout is not None and not enable:
        message = "--holdout needs --enable"
        raise click.UsageError(message)
    found: list[tuple[str, str, float | None]] = []
    if enable:
        found.append(("holdout", "", _USUAL_HOLDOUT if holdout is None else holdout))
    if disable:
        found.append(("holdout", "", 0.0))
    if withdraw is not None:
        found.append(("withdraw", withdraw, None))
    if restore is not None:
        found.append(("restore", restore, None))
    return found


def _decide(
    project: str | None,
    action: str,
    entry: str,
    share: float | None,
    actor: str,
    reason: str,
    *,
    as_json: bool,
) -> None:
    from trackrecord.resources.figures import effect

    about = TypedId(entry, ("entry",)) if entry else None
    with own_store(project, about) as name, open_project(name) as store:
        engine, settings = store.engine, store.settings
        if action == "holdout":
            decision = effect.hold_out(
                engine, settings, name, share or 0.0, by=actor, reason=reason
            )
        else:
            change = effect.withdraw_entry if action == "withdraw" else effect.restore_entry
            decision = change(engine, settings, name, entry, by=actor, reason=reason)
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
    from trackrecord.resources.figures.effect import measure_effect

    if shown is None and (limit or sort):
        message = "--limit and --sort are for the lists of --by kind and --by entry"
        raise click.UsageError(message)
    entries = EFFECT_ENTRIES.order(sort) if sort and shown == "entry" else None
    kinds = EFFECT_KINDS.order(sort) if sort and shown == "kind" else None
    with read_store(project) as (connection, settings, name):
        every = measure_effect(connection, name, setting=settings.holdout)
    found, beyond = every, 0
    if shown == "entry":
        found = replace(every, entries=tuple(EFFECT_ENTRIES.sorted(every.entries, entries)[:limit]))
        beyond = len(every.entries) - len(found.entries)
    elif shown == "kind":
        found = replace(every, kinds=tuple(EFFECT_KINDS.sorted(every.kinds, kinds)[:limit]))
        beyond = len(every.kinds) - len(found.kinds)
    if as_json:
        print_json(found.to_document())
    elif shown == "entry":
        _print_entries(found, [each.id for each in every.entries])
        say_more(beyond, "entries")
    elif shown == "kind":
        _print_kinds(found)
        say_more(beyond, "kinds of task")
    else:
        _print_overall(found)


def _print_overall(found: EffectAnswer) -> None:
    from trackrecord.learning.advice.effect.texts import conclusion

    report = found.report
    if report.tasks != (0, 0):
        rows = [(each.measure.name, *cells(each)) for each in report.overall]
        print_table(("measure", *COLUMNS), rows, about="measure", secondary=SECONDARY)
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
    for name in found.decisions.withdrawn:
        decision = found.decisions.entries[name]
        why = f": {one_line(decision.reason)}" if decision.reason else ""
        said = f"withdrawn by {one_line(decision.actor)}: {one_line(name)}{why}"
        out.print(said, markup=False, highlight=False)


def _print_kinds(found: EffectAnswer) -> None:
    if not found.kinds:
        click.echo(f"no task of project {found.project!r} ended with or without advice")
        return
    rows = [(each.kind, *cells(each.comparison)) for each in found.kinds]
    print_table(("kind of task", *COLUMNS), rows, about="kind of task", secondary=SECONDARY)


def _print_entries(found: EffectAnswer, known: list[str]) -> None:
    if not found.entries:
        click.echo(f"no entry was handed to a task of project {found.project!r} that ended")
        return
    ids = shown_ids([each.id for each in found.entries], known)
    rows = []
    for each in found.entries:
        given, without, difference, interval, verdict = cells(each.comparison)
        followed = "-" if each.followed is None else f"{each.followed} of {each.handed_out}"
        state = "withdrawn" if each.withdrawn else verdict
        rows.append((ids[each.id], followed, given, without, difference, interval, state))
    columns = ("id", "followed", *COLUMNS)
    print_table(columns, rows, about="id", secondary=("followed", *SECONDARY))
