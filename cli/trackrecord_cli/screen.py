"""What commands print: JSON for scripts, tables and colour on a terminal, plain text in a pipe."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from trackrecord.learning.text.inert import as_data

from .outcome_input import BadLine

# In a pipe nothing is folded: one row stays one line.
_PIPE_WIDTH = 10_000
_BAD_INPUT = 2


def print_json(document: object) -> None:
    """Print one JSON document."""
    data = msgspec.json.format(msgspec.json.encode(document), indent=2)
    click.echo(data.decode())


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows: a table on a terminal, tab-separated lines with a header in a pipe."""
    if not sys.stdout.isatty():
        click.echo("\t".join(columns))
        for row in rows:
            click.echo("\t".join(_flat(value) for value in row))
        return
    table = Table(*columns, box=SIMPLE_HEAD, header_style="bold")
    for row in rows:
        table.add_row(*(value if isinstance(value, Text) else Text(_flat(value)) for value in row))
    console().print(table)


def console() -> Console:
    """Standard output for people."""
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)


def progress_bar() -> Progress:
    """A progress bar on standard error; silent when that is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )


def _flat(value: Any) -> str:  # noqa: ANN401 - a cell holds anything
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    # What agents wrote must not steer a terminal or break a row.
    return as_data(str(value), 300)


def say_bad_lines(bad: Sequence[BadLine]) -> int:
    """Name each bad line on standard error; answers the exit status."""
    for each in bad:
        click.echo(f"trackrecord: {each.place}: {each.reason}", err=True)
    return _BAD_INPUT if bad else 0
