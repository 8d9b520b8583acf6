"""The Grafana board and the alert rules in the repository, and the metrics that queries name."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

MONITORING = Path(__file__).parents[2] / "deploy" / "monitoring"

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR = re.compile(r"\b([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{[^}]*\})?")
_MATCHER = re.compile(r"(\w+)\s*(=~|!~|!=|=)\s*(\"(?:[^\"\\]|\\.)*\")")
_GROUPING = re.compile(r"\b(by|without|on|ignoring)\s*\(([^)]*)\)")
_WORDS = frozenset({"by", "without", "on", "ignoring", "and", "or", "unless", "bool", "offset"})


@dataclass(frozen=True)
class Selector:
    """One metric that a query reads.

    Attributes:
        name: its name.
        matchers: what its labels must be: label, operator, value.
    """

    name: str
    matchers: tuple[tuple[str, str, str], ...]


def board() -> dict[str, Any]:
    """The board as Grafana reads it."""
    found: dict[str, Any] = json.loads((MONITORING / "grafana" / "trackrecord.json").read_text())
    return found


def board_queries() -> list[str]:
    """Every query of the board: of panels, of variables, of annotations."""
    shown = board()
    panels = [target["expr"] for panel in shown["panels"] for target in panel.get("targets", ())]
    variables = [
        re.sub(r"^label_values\((\w+), (\w+)\)$", r"count by (\2) (\1)", each["query"]["query"])
        for each in shown["templating"]["list"]
        if each["type"] == "query"
    ]
    return [*panels, *variables, *(each["expr"] for each in shown["annotations"]["list"])]


def rules() -> list[dict[str, Any]]:
    """All alert rules."""
    document = yaml.safe_load((MONITORING / "alerts.yml").read_text())
    return [rule for group in document["groups"] for rule in group["rules"]]


def selectors(query: str) -> Iterator[Selector]:
    """Yield every metric that a query names."""
    bare = _GROUPING.sub(" ", query)
    for found in _SELECTOR.finditer(_without_strings(bare)):
        name, labels = found.groups()
        after = bare[found.end() :].lstrip()
        # A function, or a unit of time, as in [5m].
        is_metric = name not in _WORDS and not (labels is None and after.startswith("("))
        if is_metric and not bare[: found.start()].endswith("["):
            given = bare[found.start(2) : found.end(2)] if labels else ""
            yield Selector(name, tuple(each.groups() for each in _MATCHER.finditer(given)))


def groupings(query: str) -> set[str]:
    """The labels that a query groups or matches by."""
    return {
        label.strip()
        for found in _GROUPING.finditer(query)
        for label in found[2].split(",")
        if label.strip()
    }


def _without_strings(query: str) -> str:
    """A query with the inside of its strings blanked, so that positions stay."""
    return _STRING.sub(lambda found: '"' + "_" * (len(found[0]) - 2) + '"', query)
