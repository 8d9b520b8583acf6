"""Tables within the width of a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from trackrecord_cli.output.tables import Column, fit, left_out_note


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
