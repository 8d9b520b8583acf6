"""`trackrecord demo`: the main job, on a simulated fleet."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from ...arguments.options import json_option
from ...output.screen import console, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from rich.progress import Progress


@click.command("demo")
@click.option(
    "--agents",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Run this many agents, each in a process of its own.",
)
@click.option(
    "--outcomes",
    type=click.IntRange(100, 1_000_000),
    default=40_000,
    show_default=True,
    help="Publish this many outcomes in all.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Draw the fleet's luck from this seed.",
)
@json_option
def command(agents: int, outcomes: int, seed: int, *, as_json: bool) -> None:
    """Run a simulated fleet, and show what was learnt beside the truth.

    Agents publish from processes of their own, a real worker learns; the end shows what was
    learnt beside what was planted. Leaves nothing behind.
    """
    from trackrecord.process.logs import configure_logs

    from ...demo.run import run_demo

    configure_logs("warning")
    started = time.monotonic()
    with progress_bar() as progress:
        document = run_demo(agents=agents, outcomes=outcomes, seed=seed, step=_Steps(progress))
    if as_json:
        print_json(document)
        return
    _print(document, time.monotonic() - started)


class _Steps:
    """Shows one progress bar, for the current step."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._what = ""
        self._task = progress.add_task("", total=None)

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self._what:
            self._what = what
            self._progress.remove_task(self._task)
            self._task = self._progress.add_task(what, total=total or None)
        self._progress.update(self._task, completed=done)


def _print(document: dict[str, Any], seconds: float) -> None:
    out = console()
    out.print("What helps, and what hurts: learnt beside planted", style="bold")
    print_table(
        ("strategy", "planted", "learnt", "observations", "state"),
        (
            (
                each["id"],
                _percent(each["planted_rate"]),
                _percent(each["learnt_rate"]),
                each["observations"],
                each["state"],
            )
            for each in document["strategies"]
        ),
        about="strategy",
        secondary=("observations", "state"),
    )
    out.print()
    out.print("Which tool procedures succeed: learnt beside planted", style="bold")
    print_table(
        ("when", "tools in the order learnt", "planted", "learnt", "episodes"),
        (
            (
                each["trigger"],
                " > ".join(each["learnt_tools"] or ["-"]),
                _percent(each["planted_rate"]),
                _percent(each["learnt_rate"]),
                each["episodes"],
            )
            for each in document["procedures"]
        ),
        about="tools in the order learnt",
        secondary=("episodes", "when"),
    )
    out.print()
    out.print(
        f"What an agent gets for its next prompt ({document['tokens']} tokens, "
        f"{document['left_out']} left out)",
        style="bold",
    )
    click.echo(document["prompt"])
    click.echo()
    click.echo(
        f"{document['outcomes']} outcomes from {document['agents']} processes, published and "
        f"learnt in {document['seconds']} s: {document['outcomes_per_s']} a second "
        f"(the whole demo: {seconds:.0f} s)"
    )


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"
