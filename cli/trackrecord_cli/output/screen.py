"""Output of commands: JSON for scripts, tables and colour on a terminal, plain text in a pipe."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
import msgspec

from trackrecord.learning.text.inert import one_line

from .tables import EDGES, columns_of, default_order, fit, folded, left_out_note, longest

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


# In a pipe nothing is folded: one row stays one line.
_PIPE_WIDTH: Final = 10_000
_CELL_CHARS: Final = 300
_RUN: Final = "outcome_id"
_ISO_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z")
_NOTHING: Final = "-"
# What a cell begins with that spreadsheets compute; numbers, and ours with their intervals, do too.
_FORMULA: Final = frozenset("=+-@＝＋－＠")
_NUMBER: Final = re.compile(r"[-+]?[\d.,]+(?:e[-+]?\d+)?(?: ?%)?(?: \([-+\d., to%]+\))?")


_COLOURS: Final = {
    "proven": "green", "established": "cyan", "candidate": "yellow", "deprecated": "red",
    "anti-pattern": "bold red", "seen": "yellow", "faded": "dim", "dismissed": "dim",
    "runs": "green", "never ran": "red", "does not run": "yellow", "needs another first": "yellow",
    "often fails": "yellow", "was opened": "green", "is not here": "red",
}  # fmt: skip


class Coloured(NamedTuple):
    """A cell with a colour, which it has on a terminal only."""

    text: str
    style: str

    def __str__(self) -> str:
        return self.text


def coloured_states(answers: Sequence[Any], _project: str) -> list[Coloured]:
    """Return the states of answers in their words, each in its colour."""
    words = [each.state_in_words for each in answers]
    return [Coloured(each, _COLOURS.get(each, "")) for each in words]


def print_json(document: object) -> None:
    """Print one JSON document."""
    data = msgspec.json.format(msgspec.json.encode(document), indent=2)
    click.echo(data.decode())


def on_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    about: str = "",
    secondary: Sequence[str] | None = None,
    is_whole: bool = False,
) -> None:
    """Print rows: a table on a terminal, tab-separated lines with a header in a pipe.

    Args:
        columns: their names.
        rows: a cell for each column.
        about: the column that holds what the rows are about, which gets the room on a terminal;
            "" for the one with the longest texts.
        secondary: the columns that a narrow terminal is not shown, the first one first; None for
            all but the first one and what the rows are about, from the last one on.
        is_whole: whether a text has as many lines as it needs.
    """
    if not on_terminal():
        click.echo("\t".join(columns))
        for row in rows:
            click.echo("\t".join(_for_spreadsheet(_flat(value, sys.maxsize)) for value in row))
        return
    _print_rich(columns, [list(row) for row in rows], about, secondary, is_whole=is_whole)


def _for_spreadsheet(text: str) -> str:
    """Return a cell that a spreadsheet takes for a text or a number, and never for a formula."""
    is_formula = text[:1] in _FORMULA and text != _NOTHING and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def _print_rich(
    names: Sequence[str],
    rows: Collection[Sequence[Any]],
    about: str,
    secondary: Sequence[str] | None,
    *,
    is_whole: bool,
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    cells = [[Text(_for_reading(value), style=_style(value)) for value in row] for row in rows]
    texts = [[cell.plain for cell in row] for row in cells]
    about = about or longest(names, texts)
    order = default_order(names, about) if secondary is None else secondary
    needed = columns_of(names, texts, about=about, secondary=order, is_folded=not is_whole)
    columns = list(needed)
    out = console()
    room = out.width - EDGES
    widths = fit(columns, room)
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    shown = [place for place, width in enumerate(widths) if width]
    for place in shown:
        name = names[place].replace("_", " ")
        table.add_column(name, width=widths[place], overflow="fold")
    for row in cells:
        table.add_row(
            *(folded(row[place], out, widths[place], is_whole=is_whole) for place in shown)
        )
    out.print(table)
    if note := left_out_note(columns, widths, room):
        out.print(note, style="dim", markup=False)


def _for_reading(value: object) -> str:
    """Return a cell's text for people: yes and no, and times to the minute, all in UTC."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = _flat(value, _CELL_CHARS)
    time = _ISO_TIME.fullmatch(text)
    return f"{time[1]} {time[2]}" if time else text


def _style(value: object) -> str:
    return value.style if isinstance(value, Coloured) else ""


def shown_ids(ids: Sequence[str], known: Sequence[str] = ()) -> dict[str, str]:
    """Return each id as a table shows it: short on a terminal, whole in a pipe.

    Args:
        ids: those that are shown.
        known: all others that a short id must not stand for.
    """
    if not on_terminal():
        return {some_id: some_id for some_id in ids}
    from trackrecord.resources.access.short_ids import shortened

    return shortened([*ids, *known])


def print_details(document: Mapping[str, Any]) -> None:
    """Print one thing: its fields, then a table for each field that is a list of objects."""
    tables = {name: value for name, value in document.items() if _is_table(value)}
    fields = [
        field
        for name, value in document.items()
        if name not in tables
        for field in _fields(name, value)
    ]
    if on_terminal():
        fields = [(name.replace("_", " ").replace(".", ": "), value) for name, value in fields]
        fields = [(name, value) for name, value in fields if _flat(value, 1) != _NOTHING]
    print_table(("field", "value"), fields, about="value", secondary=(), is_whole=True)
    for name, rows in tables.items():
        console().print(name.replace("_", " "), markup=False)
        columns = list(dict.fromkeys(column for row in rows for column in row))
        if on_terminal():  # there is little room: what no row has is left out
            # Nor is what each row shares with the thing that is shown.
            columns = [
                each
                for each in columns
                if any(row.get(each) not in (None, document.get(each)) for row in rows)
            ] or columns
            rows = _with_short_ids(rows)
        print_table(columns, ([row.get(column) for column in columns] for row in rows))


def _with_short_ids(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    from trackrecord.resources.access.short_ids import shortened_run_ids

    short = shortened_run_ids([each for row in rows if (each := row.get(_RUN))])
    return [row | {_RUN: short[row[_RUN]]} if row.get(_RUN) else row for row in rows]


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _fields(name: str, value: object) -> list[tuple[str, object]]:
    """Return an object's fields, each under the name of the object and its own."""
    if not isinstance(value, dict):
        return [(name, value)]
    return [field for inner, each in value.items() for field in _fields(f"{name}.{inner}", each)]


def console() -> Console:
    """Return standard output for people."""
    from rich.console import Console

    return Console(width=None if on_terminal() else _PIPE_WIDTH, highlight=False)


def progress_bar(*, of_bytes: bool = False) -> Progress:
    """Return a progress bar on standard error; it is silent where that is not a terminal.

    Args:
        of_bytes: whether what is counted are bytes.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Bytes(DownloadColumn):
        """The bytes read so far; nothing for a step that is not counted."""

        def render(self, task: Task) -> Text:
            return super().render(task) if task.total is not None else Text("")

    return Progress(
        TextColumn("{task.description}"),
        # With the counts of logs it is still one line on a terminal of 80 columns.
        BarColumn(bar_width=12 if of_bytes else 40),
        *((Bytes(), TimeRemainingColumn()) if of_bytes else (MofNCompleteColumn(),)),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )


@contextmanager
def working(what: str, *, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show progress on a terminal; yields the function that takes the progress so far.

    Args:
        what: is being done.
        total: how far it will have come at the end; None if nobody knows.
    """
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    with progress_bar() as progress:
        shown = progress.add_task(what, total=total)
        yield lambda done: progress.update(shown, completed=done)


@contextmanager
def telling_what_was_done(message: Callable[[], str]) -> Iterator[None]:
    """Print at Ctrl-C what was done and what was not.

    Args:
        message: returns that, and how to go on.
    """
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"trackrecord: {message()}", err=True)
        raise


def _flat(value: object, most: int) -> str:
    """Return a cell's text on one line."""
    if value is None or value in ([], (), {}):
        return _NOTHING
    if isinstance(value, Coloured):
        return _flat(value.text, most)
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_flat(each, most) for each in value)
    if isinstance(value, Mapping):
        return ", ".join(
            f"{_flat(name, most)}: {_flat(each, most)}" for name, each in value.items()
        )
    # What agents wrote must not steer a terminal or break a row.
    return one_line(str(value), most)


def say_more(beyond: int, things: str, *, is_exact: bool = True) -> None:
    """Print on standard error that a list has more rows than were shown.

    Args:
        beyond: how many more.
        things: what they are, in the plural.
        is_exact: whether all that are not shown were counted.
    """
    if beyond > 0:
        told = f"{beyond} more {things}" if is_exact else f"there are more {things}"
        is_one = is_exact and beyond == 1
        click.echo(
            "1 more; --limit shows it" if is_one else f"{told}; --limit shows them", err=True
        )


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Print lines of a name and a value, in two columns; a value has the room it needs."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in lines:
        grid.add_row(name, Text(_flat(value, _CELL_CHARS)))
    console().print(grid)
