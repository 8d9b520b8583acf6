"""Print the changes of an installation for people: files and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from trackrecord_capture.agents.plan import Plan


def show_plan(
    label: str,
    plan: Plan,
    *,
    is_done: bool,
    verb: Literal["install", "uninstall"],
    with_lines: bool,
) -> None:
    """Print the files that are changed, or would be, with their changed lines on request."""
    if not plan.changes:
        state = "is installed already" if verb == "install" else "is not installed"
        click.echo(f"{label}: {state}; nothing to change")
    for change in plan.changes:
        what = "changes" if change.before is not None else "writes"
        what = "removes" if change.after is None else what
        click.echo(f"{label}: {what if is_done else f'would {what[:-1]}'} {change.path}")
        for line in change.lines() if with_lines else ():
            click.echo(f"  {line}")
    for note in plan.notes:
        show_note(label, note)


def show_note(label: str, note: str) -> None:
    """Print a note for the user."""
    click.echo(f"trackrecord: {label}: {note}", err=True)
