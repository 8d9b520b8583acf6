"""Print figures, and convert them to JSON."""

from collections.abc import Mapping
from typing import Any

from .figures import Figure, Measured, Verdict


def number(value: float) -> str:
    """Return a number with three significant digits, or whole where it is large."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def lines_of(name: str, measured: Measured) -> list[str]:
    """Return one benchmark's figures as lines of text."""
    lines = [f"{name}: {measured.workload}"]
    for figure in measured.figures:
        lines.append(_figure_line(figure))
        lines += [
            f"      beside: {each.name:<38} {number(each.value):>10} {figure.unit}"
            for each in figure.baselines
        ]
    return lines + [f"  {line}" for line in measured.table]


def _figure_line(figure: Figure) -> str:
    line = f"  {figure.name:<46} {number(figure.value):>10} {figure.unit:<11}"
    if figure.floor is None:
        return line.rstrip()
    floor = f"{'≥' if figure.floor.is_minimum else '≤'} {number(figure.floor.value)}"
    return f"{line} {floor:<12} {figure.verdict.value}"


def summary(figures: Mapping[str, Measured]) -> str:
    """Return how many of the required figures are met."""
    asked = [each for measured in figures.values() for each in measured.figures if each.floor]
    met = sum(each.verdict is Verdict.MET for each in asked)
    return f"{met} of {len(asked)} figures met"


def document(facts: Mapping[str, str], figures: Mapping[str, Measured]) -> dict[str, Any]:
    """Return everything as one JSON document."""
    return {
        "machine": dict(facts),
        "benchmarks": {name: _measured(measured) for name, measured in figures.items()},
    }


def _measured(measured: Measured) -> dict[str, Any]:
    return {
        "workload": measured.workload,
        "figures": [_figure(figure) for figure in measured.figures],
        "table": list(measured.table),
    }


def _figure(figure: Figure) -> dict[str, Any]:
    bound = "at_least" if figure.floor and figure.floor.is_minimum else "at_most"
    return {
        "name": figure.name,
        "value": figure.value,
        "unit": figure.unit,
        "floor": {bound: figure.floor.value} if figure.floor else None,
        "verdict": figure.verdict.value or None,
        "baselines": {each.name: each.value for each in figure.baselines},
    }
