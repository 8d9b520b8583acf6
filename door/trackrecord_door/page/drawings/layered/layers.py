"""Layers: circles are broken at the least cost, then each box is put below its origins."""

from collections import defaultdict
from collections.abc import Iterable, Sequence


def layers_of(names: Sequence[str], links: Iterable[tuple[str, str, float]]) -> dict[str, int]:
    """Return the layer of each box: as far up as the links that lead down to it allow.

    Args:
        names: of the boxes; where nothing else decides, the earlier one stands above.
        links: origin, target and weight; none leads from a box to itself.
    """
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    for origin, target, weight in links:
        weights[origin, target] += weight
    place = {name: number for number, name in enumerate(_in_sequence(names, weights))}
    origins: defaultdict[str, list[str]] = defaultdict(list)
    for one, other in weights:
        above, below = sorted((one, other), key=place.__getitem__)
        origins[below].append(above)
    layers: dict[str, int] = {}
    for name in sorted(names, key=place.__getitem__):
        layers[name] = max((layers[each] + 1 for each in origins[name]), default=0)
    return layers


def _in_sequence(names: Sequence[str], weights: dict[tuple[str, str], float]) -> list[str]:
    """Return the boxes such that links of little weight lead back (Eades, Lin and Smyth 1993)."""
    out: defaultdict[str, dict[str, float]] = defaultdict(dict)
    into: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (origin, target), weight in weights.items():
        out[origin][target] = weight
        into[target][origin] = weight
    left = dict.fromkeys(names)
    head: list[str] = []
    tail: list[str] = []
    while left:
        chosen = next((name for name in left if not into[name]), None)
        if chosen is None and (last := next((name for name in left if not out[name]), None)):
            tail.append(last)
            _take(last, left, out, into)
            continue
        if chosen is None:
            chosen = max(left, key=lambda name: sum(out[name].values()) - sum(into[name].values()))
        head.append(chosen)
        _take(chosen, left, out, into)
    return head + tail[::-1]


def _take(
    name: str,
    left: dict[str, None],
    out: dict[str, dict[str, float]],
    into: dict[str, dict[str, float]],
) -> None:
    del left[name]
    for target in out.pop(name, {}):
        del into[target][name]
    for origin in into.pop(name, {}):
        del out[origin][name]
