"""`trackrecord status --watch`: the status again and again, in place on a terminal."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NoReturn

import click

from trackrecord.errors import ServerUnavailable
from trackrecord.learning.text.inert import one_line

from .drawing import recent_end
from .screen import on_terminal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    from trackrecord.resources.operation.flow_rates import FlowRates
    from trackrecord.resources.operation.status import StatusAnswer

_MOST_RATES: Final = 30
_GAP: Final = 2
# A resized terminal is drawn anew after this time at most.
_SLICE_S: Final = 0.2

Read = Callable[[], "StatusAnswer"]
Check = Callable[[], None]


@dataclass
class _Seen:
    """The readings so far.

    Attributes:
        rates: those between the newest readings, the oldest first.
        status: the newest reading; None before the first.
        problem: why the last attempt failed; None if it did not.
    """

    rates: deque[FlowRates] = field(default_factory=lambda: deque(maxlen=_MOST_RATES))
    status: StatusAnswer | None = None
    problem: str | None = None
    _read_at: float = 0.0

    def read(self, read: Read) -> None:
        """Read once more; a server that is away is a problem, and no end."""
        from trackrecord.resources.operation.flow_rates import flow_rates

        try:
            status = read()
        except ServerUnavailable as error:
            self.problem = str(error)
            return
        now = time.monotonic()
        if self.status is not None:
            self.rates.append(flow_rates(self.status, status, now - self._read_at))
        self.status, self.problem, self._read_at = status, None, now


def watch(read: Read, *, interval_s: float, title: str, as_json: bool) -> int:
    """Show the status again and again until Ctrl-C; return the exit status, which is 0.

    Args:
        read: reads the status; may raise ServerUnavailable at any time.
        interval_s: the pause between two readings.
        title: whose status it is.
        as_json: whether each reading is one line of JSON.
    """
    in_place = on_terminal() and not as_json and os.environ.get("TERM") not in (None, "dumb")
    try:
        with _ending() as check:
            if in_place:
                _watch_in_place(read, check, interval_s, title)
            else:
                _print_blocks(read, check, interval_s, as_json=as_json)
    except KeyboardInterrupt:
        return 0


def _print_blocks(read: Read, check: Check, interval_s: float, *, as_json: bool) -> NoReturn:
    """Print a block for each reading: for pipes and logs."""
    seen = _Seen()
    while True:
        seen.read(read)
        click.echo(_json_line(seen) if as_json else _block(seen))
        sys.stdout.flush()
        check()
        time.sleep(interval_s)
        check()


def _json_line(seen: _Seen) -> str:
    import msgspec

    if seen.status is None or seen.problem is not None:
        return msgspec.json.encode({"error": "ServerUnavailable", "message": seen.problem}).decode()
    rates = seen.rates[-1].to_document() if seen.rates else {}
    return msgspec.json.encode(seen.status.to_document() | rates).decode()


def _block(seen: _Seen) -> str:
    if seen.status is None or seen.problem is not None:
        return f"{seen.problem}\n"
    document = seen.status.to_document() | (seen.rates[-1].to_document() if seen.rates else {})
    verdict = document.pop("verdict")
    document["rebuild_due"] = ", ".join(seen.status.rebuild_due) or "no"
    return "\n".join(
        [
            *(f"{name}\t{one_line(str(value), sys.maxsize)}" for name, value in document.items()),
            verdict,
            "",
        ]
    )


def _watch_in_place(read: Read, check: Check, interval_s: float, title: str) -> NoReturn:
    from rich.live import Live

    from .screen import console

    seen = _Seen()
    out = console()
    # What is drawn asks standard output for its encoding, so that stays what it is.
    with Live(
        console=out, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
    ) as live:
        while True:
            seen.read(read)
            _draw(live, seen, title, interval_s)
            until = time.monotonic() + interval_s
            size = out.size
            while (left := until - time.monotonic()) > 0:
                check()
                time.sleep(min(left, _SLICE_S))
                if out.size != size:
                    size = out.size
                    _draw(live, seen, title, interval_s)


def _draw(live: Live, seen: _Seen, title: str, interval_s: float) -> None:
    live.update(_view(live.console, seen, title, interval_s), refresh=True)


def _view(out: Console, seen: _Seen, title: str, interval_s: float) -> Table:
    """Return the screen's content: lines that do not fit are left out before the verdict is."""
    from rich.table import Table
    from rich.text import Text

    from .status_lines import flow, learnt

    now = time.strftime("%H:%M:%S")
    head = f"trackrecord: {title}, {now}, every {interval_s:g} s; Ctrl-C ends"
    view = Table.grid()
    view.add_row(Text(head, style="bold", no_wrap=True, overflow="ellipsis"))
    verdict = seen.problem or ("" if seen.status is None else seen.status.verdict)
    is_well = seen.problem is None and seen.status is not None and seen.status.is_learning
    end = Text(verdict, style="green" if is_well else "bold red")
    if seen.status is not None:
        lines = [*flow(seen.status, list(seen.rates)), *learnt(seen.status)]
        grid = Table.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
        fitting = max(0, out.height - 3 - len(end.wrap(out, out.width)))
        beside = sum(max(len(each[place]) for each in lines) + _GAP for place in (0, 1))
        for line in lines[:fitting]:
            drawn = recent_end(line.drawn, out.width - beside)
            grid.add_row(line.name, Text(line.value, justify="right"), drawn)
        view.add_row("")
        view.add_row(grid)
    view.add_row("")
    view.add_row(end)
    return view


@contextmanager
def _ending() -> Iterator[Callable[[], None]]:
    """End at Ctrl-C and SIGTERM by way of the code that restores the terminal.

    Yields what is called between two readings: an exception that a signal raises while Python runs
    a finaliser is dropped there, and is raised again by this.
    """
    asked: list[int] = []

    def check() -> None:
        if asked:
            raise KeyboardInterrupt if asked[0] == signal.SIGINT else SystemExit(128 + asked[0])

    def end(number: int, _frame: object) -> None:
        asked.append(number)
        check()

    # A shell starts what runs in the background with Ctrl-C ignored, and that stays so.
    before = {
        number: signal.signal(number, end)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
