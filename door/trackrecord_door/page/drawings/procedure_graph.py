"""The picture of a procedure: its tools, how often each order was taken, and where it fails."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from typing import Final, Literal
from unicodedata import east_asian_width

from trackrecord.learning.competences.episodes.flow import OTHERS, FlowMove, FlowStep, ProcedureFlow

from .layered.graph import Box, BoxPlace, Drawing, Link, Route
from .layered.layout import layout

BoxKind = Literal["start", "step", "succeeded", "failed"]

# What runs do seldom is in the table alone: a picture of everything shows nothing.
_SHOWN_SHARE: Final = 0.98
_MOST_LINKS_PER_STEP: Final = 2
# From this share of failed calls on, a step is marked.
_FAILS_FROM: Final = 0.1
_CHARACTER: Final = 7.2
_LABEL_CHARACTER: Final = 6.5
_PADDING: Final = 24.0
_STEP_HEIGHT: Final = 50.0
_END_HEIGHT: Final = 44.0
_LONGEST_NAME: Final = 26
_THINNEST: Final = 1.25
_THICKEST: Final = 7.0
_HEAD: Final = 7.0
# Less is not seen.
_DRAWN: Final = 0.05
_ENDS: Final[dict[BoxKind, str]] = {
    "start": "Start", "succeeded": "Goal reached", "failed": "Goal not reached"
}  # fmt: skip


@dataclass(frozen=True)
class DrawnBox:
    """A box of the picture.

    Attributes:
        kind: what it stands for.
        place: where it is.
        name: what it is called, shortened to its width.
        whole_name: what it is called.
        says: its numbers.
        failed_share: of a step, the share of its calls that failed.
    """

    kind: BoxKind
    place: BoxPlace
    name: str
    whole_name: str
    says: str
    failed_share: float = 0.0

    @property
    def left(self) -> float:
        """Its left edge."""
        return self.place.x - self.place.width / 2

    @property
    def top(self) -> float:
        """Its upper edge."""
        return self.place.y - self.place.height / 2

    @property
    def fails(self) -> bool:
        """Return whether enough of its calls failed to mark it."""
        return self.failed_share >= _FAILS_FROM


@dataclass(frozen=True)
class DrawnMove:
    """A link of the picture.

    Attributes:
        path: its curve, as the path of an SVG has it.
        head: the corners of its arrow head.
        thickness: of its line.
        label: how often it was taken.
        at: where the label stands.
        leads_back: whether it leads to a step that usually comes before, or to the same one.
        fails: whether it leads to the end of runs that did not reach their goal.
        title: all of it, in words.
    """

    path: str
    head: str
    thickness: float
    label: str
    at: tuple[float, float]
    leads_back: bool
    fails: bool
    title: str


@dataclass(frozen=True)
class Picture:
    """A procedure as a graph.

    Attributes:
        width: of the whole.
        height: of the whole.
        boxes: steps, beginning and ends.
        moves: what leads from one to another.
        shown: how often the links that are drawn were taken.
        all: how often all links were taken.
        says: the picture in a sentence, for those who do not see it.
    """

    width: int
    height: int
    boxes: tuple[DrawnBox, ...]
    moves: tuple[DrawnMove, ...]
    shown: int
    all: int
    says: str


@dataclass(frozen=True)
class _Edge:
    origin: str
    target: str
    times: int
    title: str


def picture_of(flow: ProcedureFlow) -> Picture | None:
    """Return the picture of a procedure; None if no run of it made a call."""
    if not flow.steps:
        return None
    edges = _edges(flow)
    kept = _kept(edges)
    texts = {
        **_texts_of_ends(flow),
        **{_step(each.tool): _text_of(each, flow) for each in flow.steps},
    }
    steps = {_step(each.tool): each for each in flow.steps}
    reached = {name for edge in kept for name in (edge.origin, edge.target)}
    boxes = [_box(name, *text) for name, text in texts.items() if name in reached]
    most = max(edge.times for edge in kept)
    links = [
        Link(edge.origin, edge.target, edge.times, len(_label(edge)) * _LABEL_CHARACTER + 4)
        for edge in kept
    ]
    drawing = layout(boxes, links)
    return Picture(
        width=ceil(drawing.width),
        height=ceil(drawing.height),
        boxes=tuple(_drawn_boxes(drawing, texts, steps)),
        moves=tuple(
            _drawn_move(edge, route, most) for edge, route in zip(kept, drawing.routes, strict=True)
        ),
        shown=sum(edge.times for edge in kept),
        all=sum(edge.times for edge in edges),
        says=_in_words(flow),
    )


def step_name(tool: str, flow: ProcedureFlow) -> str:
    """Return what people are shown a step as."""
    return f"{flow.folded} other tools" if tool == OTHERS else tool


def _step(tool: str) -> str:
    return f"step {tool}"


def _edges(flow: ProcedureFlow) -> list[_Edge]:
    edges = []
    for move in flow.moves:
        if move.target is not None:
            origin = "start" if move.origin is None else _step(move.origin)
            edges.append(_Edge(origin, _step(move.target), move.times, _said(move, flow)))
    for each in flow.steps:
        name = step_name(each.tool, flow)
        for times, end, words in (
            (each.ends - each.ends_failed, "succeeded", "reached their goal"),
            (each.ends_failed, "failed", "did not reach their goal"),
        ):
            if times:
                said = f"{_runs(times)} ended after {name} and {words}"
                edges.append(_Edge(_step(each.tool), end, times, said))
    edges.sort(key=lambda edge: (-edge.times, edge.origin, edge.target))
    return edges


def _said(move: FlowMove, flow: ProcedureFlow) -> str:
    target = step_name(move.target or "", flow)
    if move.origin is None:
        return f"{_runs(move.times)} began with {target}"
    origin = step_name(move.origin, flow)
    again = (
        f"{origin} was called again"
        if move.origin == move.target
        else f"{target} followed {origin}"
    )
    went = f"of which {move.succeeded} reached their goal"
    return f"{again} {_times(move.times)}, in {_runs(move.runs)}, {went}"


def _kept(edges: Sequence[_Edge]) -> list[_Edge]:
    """Return the links that make up most of all moves, and the most frequent ones of each step."""
    limit = _SHOWN_SHARE * sum(edge.times for edge in edges)
    kept: dict[tuple[str, str], _Edge] = {}
    for name in ("origin", "target"):
        seen: set[str] = set()
        for edge in edges:
            of = getattr(edge, name)
            if of not in seen and edge.origin != edge.target:
                seen.add(of)
                kept[edge.origin, edge.target] = edge
    most = _MOST_LINKS_PER_STEP * len({edge.origin for edge in edges}) + 2
    shown = sum(edge.times for edge in kept.values())
    for edge in edges:
        if len(kept) >= most or shown >= limit:
            break
        if (edge.origin, edge.target) not in kept:
            kept[edge.origin, edge.target] = edge
            shown += edge.times
    return sorted(kept.values(), key=lambda edge: (-edge.times, edge.origin, edge.target))


_Text = tuple[BoxKind, str, str]


def _texts_of_ends(flow: ProcedureFlow) -> dict[str, _Text]:
    counts: dict[BoxKind, int] = {
        "start": flow.runs,
        "succeeded": flow.succeeded,
        "failed": flow.runs - flow.succeeded,
    }
    return {kind: (kind, _ENDS[kind], _runs(count)) for kind, count in counts.items()}


def _text_of(step: FlowStep, flow: ProcedureFlow) -> _Text:
    says = f"{step.calls} calls" if step.calls != 1 else "1 call"
    if step.failed:
        says += f", {step.failed} failed"
    return "step", step_name(step.tool, flow), says


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _box(name: str, kind: BoxKind, title: str, says: str) -> Box:
    width = max(_width(_shortened(title)) * _CHARACTER, _width(says) * _LABEL_CHARACTER)
    return Box(name, width + _PADDING, _STEP_HEIGHT if kind == "step" else _END_HEIGHT)


def _drawn_boxes(
    drawing: Drawing, texts: dict[str, _Text], steps: dict[str, FlowStep]
) -> Iterable[DrawnBox]:
    for place in drawing.places:
        kind, title, says = texts[place.name]
        share = steps[place.name].failed_share if kind == "step" else 0.0
        yield DrawnBox(kind, place, _shortened(title), title, says, share)


def _label(edge: _Edge) -> str:
    return f"{edge.times}\u00d7" if edge.origin != "start" else str(edge.times)


def _drawn_move(edge: _Edge, route: Route, most: int) -> DrawnMove:
    thickness = _THINNEST + (_THICKEST - _THINNEST) * edge.times / most
    return DrawnMove(
        path=_path(route),
        head=_head(route, thickness),
        thickness=round(thickness, 2),
        label=_label(edge),
        at=(round(route.label[0], 1), round(route.label[1], 1)),
        leads_back=route.is_loop or route.leads_up,
        fails=edge.target == "failed",
        title=edge.title,
    )


def _path(route: Route) -> str:
    """Return a curve that is upright at each point, and ends where the arrow head begins."""
    if route.is_loop:
        (x, y), (far, _), _, (end, last) = route.points
        return (
            f"M{x:.1f} {y:.1f}C{far:.1f} {y:.1f} {far:.1f} {last:.1f} {end + _HEAD:.1f} {last:.1f}"
        )
    points = [point for point, _ in groupby(route.points)]
    up = 1 if route.leads_up else -1
    points[-1] = (points[-1][0], points[-1][1] + up * _HEAD)
    (x, y), *rest = points
    path = [f"M{x:.1f} {y:.1f}"]
    for to, down in rest:
        if abs(to - x) < _DRAWN:
            path.append(f"L{to:.1f} {down:.1f}")
        else:
            middle = (y + down) / 2
            path.append(f"C{x:.1f} {middle:.1f} {to:.1f} {middle:.1f} {to:.1f} {down:.1f}")
        x, y = to, down
    return "".join(path)


def _head(route: Route, thickness: float) -> str:
    x, y = route.points[-1]
    wide = max(_HEAD / 2, thickness * 0.9)
    if route.is_loop:
        corners = [(x, y), (x + _HEAD, y - wide), (x + _HEAD, y + wide)]
    else:
        back = y + (_HEAD if route.leads_up else -_HEAD)
        corners = [(x, y), (x - wide, back), (x + wide, back)]
    return " ".join(f"{across:.1f},{down:.1f}" for across, down in corners)


def _width(text: str) -> float:
    """Return how wide a text is, in usual characters."""
    return sum(1.8 if east_asian_width(each) in "WF" else 1.0 for each in text)


def _shortened(text: str) -> str:
    """Return a text that fits into a box; agents choose how long the name of a tool is."""
    if _width(text) <= _LONGEST_NAME:
        return text
    kept = ""
    for each in text:
        if _width(kept + each) >= _LONGEST_NAME:
            break
        kept += each
    return kept + "…"


def _in_words(flow: ProcedureFlow) -> str:
    worst = max(flow.steps, key=lambda step: (step.failed, step.failed_share, step.tool))
    said = (
        f"Graph of {_runs(flow.runs)} with {len(flow.steps)} steps; {flow.succeeded} reached their "
        "goal"
    )
    if worst.failed:
        said += (
            f"; most failed calls: {step_name(worst.tool, flow)}, {worst.failed} of {worst.calls}"
        )
    return said + ". The tables below say the same."
