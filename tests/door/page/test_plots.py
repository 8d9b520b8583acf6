"""Plots: SVG in which text stays text, whatever the numbers are."""

from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from trackrecord_door.page.drawings import plots
from trackrecord_door.page.drawings.plots import Stack

SHARES = st.floats(allow_nan=False, allow_infinity=False) | st.none()
LABELS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
COUNTS = st.integers(0, 2**53)


def elements(plot):
    """All elements of a plot, which must be well-formed."""
    return list(ElementTree.fromstring(f"<x>{plot}</x>").iter())  # noqa: S314 - our own


def check(plot):
    """No element but shapes and words; every number can be drawn."""
    for each in elements(plot):
        assert each.tag in {
            "x", "div", "span", "svg", "g", "title", "rect", "line", "polyline", "polygon",
        }  # fmt: skip
        assert not {"style", "onload", "href"} & set(each.attrib)
        for name in ("x", "y", "x1", "x2", "y1", "y2", "points"):
            assert not {"nan", "inf"} & set(each.get(name, "").lower().replace(",", " ").split())
        for name in ("width", "height"):
            assert float(each.get(name, "0")) >= 0


@settings(max_examples=30)
@given(st.lists(st.tuples(LABELS, COUNTS, COUNTS, COUNTS), max_size=5), LABELS)
def test_days_are_stacked(days, title):
    """For any counts, and with any words."""
    check(plots.stacked([Stack(*day) for day in days], title))


@settings(max_examples=30)
@given(SHARES, SHARES, SHARES)
def test_bars_and_differences(value, low, high):
    """For any number and any interval."""
    check(plots.bar(value, low, high))
    check(plots.difference(value, low, high))
