"""Layered drawings: nothing overlaps, links end at their boxes and run through no other."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.growth import grows_by_at_most
from trackrecord_door.page.drawings.layered.graph import Box, Link
from trackrecord_door.page.drawings.layered.layout import LABEL_HEIGHT, layout

CLOSE = 1e-6


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 15))
    sizes = st.floats(10, 200)
    boxes = [Box(f"b{number}", draw(sizes), draw(st.floats(10, 60))) for number in range(count)]
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    pairs = draw(st.lists(ends, max_size=40, unique=True))
    links = [
        Link(f"b{one}", f"b{other}", draw(st.floats(0.1, 100)), draw(st.floats(0, 60)))
        for one, other in pairs
    ]
    return boxes, links


def chain(steps):
    boxes = [Box(str(number), 100, 40) for number in range(steps)]
    ahead = [Link(str(one), str(one + 1), 10) for one in range(steps - 1)]
    back = [Link(str(one + 1), str(one), 1) for one in range(0, steps - 1, 3)]
    return boxes, ahead + back


@settings(max_examples=60)
@given(graphs())
def test_no_two_boxes_overlap_and_all_lie_within_the_drawing(graph):
    drawing = layout(*graph)
    for box in drawing.places:
        assert box.x - box.width / 2 >= -CLOSE
        assert box.y - box.height / 2 >= -CLOSE
        assert box.x + box.width / 2 <= drawing.width + CLOSE
        assert box.y + box.height / 2 <= drawing.height + CLOSE
    for one, other in combinations(drawing.places, 2):
        assert (
            abs(one.x - other.x) >= (one.width + other.width) / 2 - CLOSE
            or abs(one.y - other.y) >= (one.height + other.height) / 2 - CLOSE
        )


@settings(max_examples=60)
@given(graphs())
def test_links_begin_and_end_on_the_border_of_their_boxes(graph):
    drawing = layout(*graph)
    places = {box.name: box for box in drawing.places}
    assert [route.link for route in drawing.routes] == graph[1]
    for route in drawing.routes:
        for name, (x, y) in (
            (route.link.origin, route.points[0]),
            (route.link.target, route.points[-1]),
        ):
            box = places[name]
            beside, above = abs(x - box.x), abs(y - box.y)
            assert beside <= box.width / 2 + CLOSE
            assert above <= box.height / 2 + CLOSE
            assert abs(beside - box.width / 2) < CLOSE or abs(above - box.height / 2) < CLOSE


@settings(max_examples=60)
@given(graphs())
def test_links_run_through_no_box_and_no_two_labels_overlap(graph):
    drawing = layout(*graph)
    for route in drawing.routes:
        # A link bends between rows only; where it passes a row it is upright.
        upright = [
            (one, other)
            for one, other in zip(route.points, route.points[1:], strict=False)
            if abs(one[0] - other[0]) < CLOSE
        ]
        for (x, one), (_, other) in upright:
            for box in drawing.places:
                if box.name in (route.link.origin, route.link.target):
                    continue
                overlap = min(max(one, other), box.y + box.height / 2) - max(
                    min(one, other), box.y - box.height / 2
                )
                assert overlap <= CLOSE or abs(x - box.x) >= box.width / 2 - CLOSE
    labels = [route for route in drawing.routes if not route.is_loop]
    for one, other in combinations(labels, 2):
        apart = (one.link.label_width + other.link.label_width) / 2
        assert (
            abs(one.label[0] - other.label[0]) >= apart - CLOSE
            or abs(one.label[1] - other.label[1]) >= LABEL_HEIGHT - CLOSE
        )
    for route in labels:
        for box in drawing.places:
            assert (
                abs(route.label[0] - box.x) >= (route.link.label_width + box.width) / 2 - CLOSE
                or abs(route.label[1] - box.y) >= (LABEL_HEIGHT + box.height) / 2 - CLOSE
            )


@settings(max_examples=20)
@given(graphs())
def test_the_same_graph_is_drawn_alike(graph):
    assert layout(*graph) == layout(*graph)


def test_a_chain_runs_straight_down_and_links_back_run_up():
    drawing = layout(*chain(6))
    ys = [box.y for box in drawing.places]
    assert ys == sorted(ys)
    assert len({round(box.x) for box in drawing.places}) == 1
    assert [route.leads_up for route in drawing.routes] == [False] * 5 + [True] * 2


def test_nothing_is_drawn_of_nothing():
    assert layout([], []).routes == ()


@pytest.mark.linear_time
def test_time_grows_no_faster_than_the_graph():
    assert grows_by_at_most(8, lambda graph: layout(*graph), short=chain(40), long=chain(320))
