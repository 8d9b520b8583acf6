"""Fit a table to a terminal: the text that its rows are about gets the room.

Secondary columns are left out where the terminal is too narrow for all, in a declared order. A
long text takes a few lines and then ends at a word with "…".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from trackrecord.learning.text.inert import ELLIPSIS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Between two columns.
_GAP: Final = 2
# Beside a table, at both sides together.
EDGES: Final = 2
_EMPTY: Final = frozenset({"", "-"})
_MOST_LINES: Final = 4
# A text is given the width at which it takes this many lines, and a few characters for their ends.
_LINES: Final = 3
_ENDS: Final = 5
_LEAST_ABOUT: Final = 20
_MOST_ABOUT: Final = 0.6
# A cell up to this width stays on one line; a longer one is folded to a width between the others.
_SHORT: Final = 20
_FOLDED: Final = (16, 24)
_WIDEST_TERMINAL: Final = 500


class Column(NamedTuple):
    """A column of a table, with the room that it needs.

    Attributes:
        name: of the column.
        header: the width of the longest word of its heading.
        widest: the width of its widest cell.
        is_about: whether it holds what the rows are about.
        is_folded: whether a long cell may take several lines where it is not what rows are about.
        is_empty: whether no row has anything there.
        goes: its place among those that are left out, 0 for the first; None if it always stays.
    """

    name: str
    header: int
    widest: int
    is_about: bool = False
    is_folded: bool = True
    is_empty: bool = False
    goes: int | None = None

    @property
    def wanted(self) -> int:
        """The width that shows each cell on one line."""
        return max(self.header, self.widest, 1)

    @property
    def enough(self) -> int:
        """The width at which a long text takes a few lines."""
        return min(self.wanted, max(_LEAST_ABOUT, -(-self.widest // _LINES) + _ENDS))

    def least(self, width: int) -> int:
        """Return the width below which the column says too little, on a terminal of a width."""
        if self.is_about:
            return min(self.enough, max(_LEAST_ABOUT, int(width * _MOST_ABOUT)))
        if self.wanted <= _SHORT or not self.is_folded:
            return self.wanted
        fewest, most = _FOLDED
        return max(self.header, fewest, min(self.enough, most))


def longest(columns: Sequence[str], texts: Sequence[Sequence[str]]) -> str:
    """Return the column with the longest text; "" without rows. An id says less than any text."""

    def length(place: int) -> tuple[bool, int]:
        return not columns[place].endswith("_id"), max(len(row[place]) for row in texts)

    return columns[max(range(len(columns)), key=length)] if texts else ""


def default_order(columns: Sequence[str], about: str) -> tuple[str, ...]:
    """Return the columns that may be left out where no order is declared: ids, then the last."""
    others = [name for name in reversed(columns[1:]) if name != about]
    return tuple(sorted(others, key=lambda name: not name.endswith("_id")))


def fit(columns: Sequence[Column], width: int) -> list[int]:
    """Return the width of each column on a terminal of a width; 0 for those that are left out."""
    widths = [column.least(width) for column in columns]
    goes = [
        (not column.is_empty, column.goes, place)
        for place, column in enumerate(columns)
        if column.goes is not None
    ]
    for _, _, place in sorted(goes):
        if _taken(widths) <= width:
            break
        widths[place] = 0
    for _ in range(_taken(widths) - width):  # what always stays does not fit either
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] = max(1, widths[widest] - 1)
    _widen(widths, columns, width)
    return widths


def _taken(widths: Sequence[int]) -> int:
    kept = [each for each in widths if each]
    return sum(kept) + _GAP * max(0, len(kept) - 1)


def _widen(widths: list[int], columns: Sequence[Column], width: int) -> None:
    """Share out what is left: first to what the rows are about, until that has enough."""
    about = [(place, each) for place, each in enumerate(columns) if each.is_about]
    others = [(place, each) for place, each in enumerate(columns) if not each.is_about]
    aims = [
        *((place, each.enough) for place, each in about),
        *((place, each.wanted) for place, each in others),
        *((place, each.wanted) for place, each in about),
    ]
    for place, aim in aims:
        spare = width - _taken(widths)
        if widths[place] and spare > 0:
            widths[place] += max(0, min(spare, aim - widths[place]))


def width_for_all(columns: Sequence[Column], width: int) -> int | None:
    """Return the width, above the given one, at which no column is left out; None if too large."""
    wider = range(width + 1, _WIDEST_TERMINAL)
    return next((each for each in wider if all(fit(columns, each))), None)


def left_out_note(columns: Sequence[Column], widths: Sequence[int], width: int) -> str:
    """Return the line that names the columns left out; "" if all are shown."""
    left_out = [each for each, own in zip(columns, widths, strict=True) if not own]
    names = [each.name.replace("_", " ") for each in left_out if not each.is_empty]
    if not names:
        return ""
    wider = width_for_all(columns, width)
    where = "" if wider is None else f"{wider + EDGES} columns or "
    return f"left out: {', '.join(names)} ({where}--json shows them)"


def folded(text: Text, console: Console, width: int, *, is_whole: bool) -> Text:
    """Return a cell on lines of a width; not more than a few of them, unless it is whole."""
    from rich.text import Text

    if text.cell_len <= width:
        return text
    lines = text.wrap(console, width, overflow="fold")
    if is_whole or len(lines) <= _MOST_LINES:
        return Text("\n", style=text.style).join(lines)
    kept = [*lines[: _MOST_LINES - 1], Text(_shortened(lines[_MOST_LINES - 1].plain, width))]
    return Text("\n".join(line.plain.rstrip() for line in kept), style=text.style)


def _shortened(line: str, width: int) -> str:
    """Return the beginning of a line that ends at a word, with an ellipsis."""
    from rich.cells import cell_len, set_cell_size

    whole = line.rstrip()
    if cell_len(whole) + 2 <= width:
        return f"{whole} {ELLIPSIS}"
    words = whole.rpartition(" ")[0]
    return f"{words} {ELLIPSIS}" if words else set_cell_size(whole, width - 1) + ELLIPSIS


def columns_of(
    names: Sequence[str],
    texts: Sequence[Sequence[str]],
    *,
    about: str,
    secondary: Sequence[str],
    is_folded: bool,
) -> Iterator[Column]:
    """Yield what the columns of a table need.

    Args:
        names: of the columns.
        texts: the cells of each row.
        about: the column that holds what the rows are about.
        secondary: the columns that may be left out, the first one first.
        is_folded: whether the other columns may take several lines.
    """
    from rich.cells import cell_len

    for place, name in enumerate(names):
        yield Column(
            name,
            max(map(cell_len, name.replace("_", " ").split()), default=0),
            max((cell_len(row[place]) for row in texts), default=0),
            is_about=name == about,
            is_folded=is_folded,
            is_empty=all(row[place] in _EMPTY for row in texts),
            goes=secondary.index(name) if name in secondary else None,
        )
