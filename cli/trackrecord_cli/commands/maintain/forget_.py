"""`trackrecord forget`: erase a source, a task or a project."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trackrecord.process.logs import configure_logs
from trackrecord_capture.forgetting.call import opened, subject_of

from ...access import open_store, settings_for
from ...arguments.options import PROJECT_NAME, Read, actor_option, json_option, name_of
from ...output.screen import print_json, print_table, telling_what_was_done, working

if TYPE_CHECKING:
    from trackrecord_capture.forgetting.forget import Forgetting

_MAX_NAME = 256
_SOURCE = Read("name", name_of(_MAX_NAME))
_LEFT = (
    "a part may be forgotten already, and the rest is not: run the same command again to finish it"
)
_TASK = Read("id", name_of(_MAX_NAME))


@click.command("forget")
@click.option("--source", type=_SOURCE, help="Erase this source in the project.")
@click.option(
    "--task",
    type=_TASK,
    help="Erase this task in the project.",
)
@click.option(
    "--project",
    type=PROJECT_NAME,
    help="Use the project of this name; without --source and --task, forget the whole project.",
)
@click.option("--dry-run", is_flag=True, help="Count what would be erased, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@actor_option("--by", "Name who forgets it, for the record of the act.")
@json_option
def command(
    source: str | None,
    task: str | None,
    project: str | None,
    actor: str,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Erase a source, a task or a whole project everywhere.

    It goes from the tables, the indexes, the history, the cache, the stream, the dead letters, the
    spool, the artifacts and the capture's files. Every statistic is afterwards as if only the rest
    had ever come. What is forgotten does not come back when it is delivered or read again. It
    cannot be undone: on a terminal the command asks first, elsewhere --yes is needed.
    """
    configure_logs("warning")
    settings, own = settings_for(None)
    subject = subject_of(source=source, task=task, project=project, default=own)
    is_asked = not (dry_run or yes)
    if is_asked and not sys.stdin.isatty():
        message = (
            "forgetting cannot be undone: confirm it with --yes, or run it on a terminal; "
            "--dry-run only counts"
        )
        raise click.UsageError(message)
    with (
        open_store(settings) as engine,
        opened(engine, settings, subject, lambda line: click.echo(line, err=True)) as forgetter,
    ):
        with working("counting what there is"):
            found = forgetter.rehearse()
        if is_asked:
            _show(found, to_stderr=as_json)
            question = f"Forget {_named(found)}? This cannot be undone."
            if not click.confirm(question, err=True):
                raise click.Abort
        if not dry_run:
            with telling_what_was_done(lambda: _LEFT), working("forgetting"):
                found = forgetter.forget(actor=actor)
    if as_json:
        print_json(found.to_document())
        return
    if not is_asked:
        _show(found)
    click.echo(_summary(found))


def _named(found: Forgetting) -> str:
    if found.what == "project":
        return f"project {found.project!r}"
    return f"{found.what} {found.name!r} of project {found.project!r}"


def _show(found: Forgetting, *, to_stderr: bool = False) -> None:
    counts = {name: count for name, count in found.counts.items() if count}
    if to_stderr:
        for name, count in counts.items():
            click.echo(f"{name.replace('_', ' ')}: {count}", err=True)
        return
    if counts:
        rows = [(name.replace("_", " "), str(count)) for name, count in counts.items()]
        print_table(["kind", "count"], rows)


def _summary(found: Forgetting) -> str:
    lines = []
    if found.held:
        lines.append(
            f"{found.held} of the spooled lines are in files that running processes write to; "
            "they are left out when they arrive"
        )
    if found.dry_run:
        lines.append(f"this would be erased of {_named(found)}; nothing was changed")
    elif found.was_begun:
        lines.append(f"{_named(found)} is forgotten; an earlier attempt had been interrupted")
    else:
        lines.append(f"{_named(found)} is forgotten")
    return "\n".join(lines)
