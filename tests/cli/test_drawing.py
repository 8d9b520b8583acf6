"""Bars and sparklines: on a terminal, in its characters, and nowhere else."""

import os
import pty
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord_cli.output.drawing import sparkline
from trackrecord_cli.output.tables import Column, fit, left_out_note


@pytest.fixture(scope="module", params=["utf-8", "ascii"])
def drawn(request):
    """Draws on a terminal of an encoding."""
    main, other = pty.openpty()
    shown = os.fdopen(other, "w", encoding=request.param)

    def draw(function, *given, **named):
        before, sys.stdout = sys.stdout, shown
        try:
            return function(*given, **named).encode(request.param).decode(request.param)
        finally:
            sys.stdout = before

    yield draw
    shown.close()
    os.close(main)


@given(values=st.lists(st.none() | st.floats(-1e9, 1e9), min_size=1), low=st.none() | st.just(0.0))
def test_a_sparkline_has_a_character_for_each_value(drawn, values, low):
    """A larger value never stands lower."""
    line = drawn(sparkline, values, low=low)
    if any(value is not None for value in values):
        assert len(line) == len(values)
        heights = drawn(sparkline, list(range(8)))
        known = [(v, heights.index(c)) for v, c in zip(values, line, strict=True) if v is not None]
        ordered = sorted(known)
        assert [height for _, height in ordered] == sorted(height for _, height in ordered)
    else:
        assert line == ""


def test_numbers_at_the_ends_of_what_a_float_holds(drawn):
    """A difference that is too large, or too small, for one."""
    assert len(drawn(sparkline, [-1.7e308, 0.0, 1.7e308], low=None)) == 3
    assert len(drawn(sparkline, [0.0, 5e-324], low=None)) == 2
    assert len(drawn(sparkline, [0.0, 5e-324, 1e16], low=-5e-324)) == 3


@given(
    columns=st.lists(st.tuples(st.integers(1, 12), st.integers(0, 300)), min_size=2, max_size=9),
    width=st.integers(60, 200),
)
def test_a_table_is_within_the_terminal(columns, width):
    """What its rows are about stays, with 20 characters at least where it has so many."""
    first, *others = columns
    columns = [
        Column("about", first[0], first[1], is_about=True),
        *(Column(f"c{place}", header, widest, goes=place)
          for place, (header, widest) in enumerate(others)),
    ]  # fmt: skip
    widths = fit(columns, width)
    shown = [each for each in widths if each]
    assert sum(shown) + 2 * (len(shown) - 1) <= width
    assert widths[0] >= min(columns[0].wanted, 20)
    wider = fit(columns, width + 40)
    assert {place for place, each in enumerate(widths) if each} <= {
        place for place, each in enumerate(wider) if each
    }
    names = left_out_note(columns, widths, width)
    assert all(
        (column.name in names) == (not own) for column, own in zip(columns, widths, strict=True)
    )
