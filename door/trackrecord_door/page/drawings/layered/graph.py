"""The input and the output of a drawing."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """A box to be placed.

    Attributes:
        name: what links name it by; no two have the same.
        width: its width.
        height: its height.
    """

    name: str
    width: float
    height: float


@dataclass(frozen=True)
class Link:
    """A link between two boxes, or from a box to itself.

    Attributes:
        origin: where it begins.
        target: where it ends.
        weight: how much it counts: heavy links run downwards and straight.
        label_width: the room that its label needs.
    """

    origin: str
    target: str
    weight: float = 1.0
    label_width: float = 0.0


@dataclass(frozen=True)
class BoxPlace:
    """The position of a box.

    Attributes:
        name: its name.
        x: its centre.
        y: its centre.
        width: its width.
        height: its height.
    """

    name: str
    x: float
    y: float
    width: float
    height: float


Point = tuple[float, float]


@dataclass(frozen=True)
class Route:
    """The path of a link.

    Attributes:
        link: the link.
        points: from its origin to its target. Between two points at the same x it is straight;
            between others it is a curve that begins and ends upright. A link from a box to itself
            has four points, which surround the room for its curve.
        label: the centre of its label.
    """

    link: Link
    points: tuple[Point, ...]
    label: Point

    @property
    def is_loop(self) -> bool:
        """Return whether the link leads from a box to itself."""
        return self.link.origin == self.link.target

    @property
    def leads_up(self) -> bool:
        """Return whether the link leads back, to a box above."""
        return self.points[-1][1] < self.points[0][1]


@dataclass(frozen=True)
class Drawing:
    """A graph with everything in its place.

    Attributes:
        width: of the whole.
        height: of the whole.
        places: of the boxes, in the order in which they were given.
        routes: of the links, in the order in which they were given.
    """

    width: float
    height: float
    places: tuple[BoxPlace, ...] = ()
    routes: tuple[Route, ...] = ()
