"""The layout of a graph: boxes in layers, links around them, labels in rows of their own."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .graph import Box, BoxPlace, Drawing, Link, Point, Route
from .layers import layers_of
from .places import place
from .rows import RowMember, ordered

_MARGIN: Final = 8.0
_BETWEEN_ROWS: Final = 15.0
LABEL_HEIGHT: Final = 16.0
_PASSAGE: Final = 3.0
# Of a link to itself, to the right of its box.
LOOP: Final = 26.0
_STRAIGHT: Final = 8.0


@dataclass
class _Passage:
    """A link's way through the rows, from the upper box to the lower one."""

    link: Link
    upper: RowMember
    lower: RowMember
    stands: list[RowMember]
    label: RowMember


def layout(boxes: Sequence[Box], links: Sequence[Link]) -> Drawing:
    """Return where the boxes and the links of a graph are drawn, from the top to the bottom.

    The same graph always gives the same drawing.

    Args:
        boxes: what is drawn; the order decides where nothing else does.
        links: between them.
    """
    if not boxes:
        return Drawing(0.0, 0.0)
    loops = {link.origin: link for link in links if link.origin == link.target}
    others = [link for link in links if link.origin != link.target]
    layers = layers_of(
        [box.name for box in boxes], [(link.origin, link.target, link.weight) for link in others]
    )
    stands = {box.name: _stand(box, 2 * layers[box.name], loops.get(box.name)) for box in boxes}
    passages = [_passage(link, stands) for link in others]
    rows: list[list[RowMember]] = [[] for _ in range(2 * max(layers.values()) + 1)]
    for stand in (*stands.values(), *(each for one in passages for each in one.stands)):
        rows[stand.row].append(stand)
    rows = ordered(rows)
    place(rows)
    tops = _tops(rows, boxes, stands)
    places = {box.name: _place(box, stands[box.name], tops) for box in boxes}
    routes = _routes(passages, places, tops)
    return Drawing(
        width=max(stand.x + stand.right for row in rows for stand in row) + 2 * _MARGIN,
        height=tops[-1][1] + _MARGIN,
        places=tuple(places.values()),
        routes=tuple(
            routes[id(link)] if link.origin != link.target else _loop(link, places[link.origin])
            for link in links
        ),
    )


def _stand(box: Box, row: int, loop: Link | None) -> RowMember:
    beside = 0.0 if loop is None else LOOP + loop.label_width
    return RowMember(row, box.width / 2, box.width / 2 + beside)


def _passage(link: Link, stands: dict[str, RowMember]) -> _Passage:
    upper, lower = sorted((stands[link.origin], stands[link.target]), key=lambda each: each.row)
    passed = [
        RowMember(row, _PASSAGE, _PASSAGE, pull=_STRAIGHT)
        for row in range(upper.row + 1, lower.row)
    ]
    # A row of labels lies below each layer: the one next to where the link begins.
    begins_above = upper is stands[link.origin]
    label = passed[0] if begins_above else passed[-1]
    label.left = label.right = max(_PASSAGE, link.label_width / 2)
    for above, below in zip((upper, *passed), (*passed, lower), strict=True):
        above.below.append(below)
        below.above.append(above)
    return _Passage(link, upper, lower, passed, label)


# Where a row begins and ends.
_Tops = list[tuple[float, float]]


def _tops(
    rows: Sequence[Sequence[RowMember]], boxes: Sequence[Box], stands: dict[str, RowMember]
) -> _Tops:
    heights = [LABEL_HEIGHT if number % 2 else 0.0 for number in range(len(rows))]
    for box in boxes:
        row = stands[box.name].row
        heights[row] = max(heights[row], box.height)
    tops: _Tops = []
    y = _MARGIN
    for height in heights:
        tops.append((y, y + height))
        y += height + _BETWEEN_ROWS
    return tops


def _place(box: Box, stand: RowMember, tops: _Tops) -> BoxPlace:
    return BoxPlace(box.name, stand.x + _MARGIN, sum(tops[stand.row]) / 2, box.width, box.height)


def _routes(
    passages: Sequence[_Passage], places: dict[str, BoxPlace], tops: _Tops
) -> dict[int, Route]:
    ports = _ports(passages, places)
    found = {}
    for each in passages:
        upper, lower = ports[id(each), "upper"], ports[id(each), "lower"]
        points = [upper, (upper[0], tops[each.upper.row][1])]
        for stand in each.stands:
            points += [(stand.x + _MARGIN, y) for y in tops[stand.row]]
        points += [(lower[0], tops[each.lower.row][0]), lower]
        if places[each.link.origin].y > places[each.link.target].y:
            points.reverse()
        label = (each.label.x + _MARGIN, sum(tops[each.label.row]) / 2)
        found[id(each.link)] = Route(each.link, tuple(points), label)
    return found


def _ports(
    passages: Sequence[_Passage], places: dict[str, BoxPlace]
) -> dict[tuple[int, str], Point]:
    """Return where each link leaves its upper box and reaches its lower one: side by side."""
    sides: defaultdict[tuple[int, str], list[tuple[float, int, _Passage]]] = defaultdict(list)
    boxes: dict[int, BoxPlace] = {}
    for number, each in enumerate(passages):
        ends = sorted((places[each.link.origin], places[each.link.target]), key=lambda one: one.y)
        boxes[id(each.upper)], boxes[id(each.lower)] = ends
        sides[id(each.upper), "upper"].append((each.stands[0].x, number, each))
        sides[id(each.lower), "lower"].append((each.stands[-1].x, number, each))
    found = {}
    for (of, side), ends_there in sides.items():
        box = boxes[of]
        y = box.y + box.height / 2 if side == "upper" else box.y - box.height / 2
        ends_there.sort(key=lambda end: end[:2])
        for number, (_, _, each) in enumerate(ends_there, start=1):
            x = box.x - box.width / 2 + box.width * number / (len(ends_there) + 1)
            found[id(each), side] = (x, y)
    return found


def _loop(link: Link, box: BoxPlace) -> Route:
    right, up = box.x + box.width / 2, box.height / 4
    points = (
        (right, box.y - up),
        (right + LOOP, box.y - up),
        (right + LOOP, box.y + up),
        (right, box.y + up),
    )
    return Route(link, points, (right + LOOP + link.label_width / 2, box.y))
