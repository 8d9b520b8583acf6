"""Recipes: the steps of a procedure, from the order in which it usually succeeds.

`typical_order` chooses among the orders that `tally` counts and that the store keeps in
`competences/signature_counts`: a choice by anything else needs both. `update` writes the recipe
into a record with its next episodes, and the benchmarks use it, too.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from .episodes.checks import is_check
from .episodes.tally import Argument, Order


@dataclass(frozen=True)
class RecipeStep:
    """One step of a recipe.

    Attributes:
        step: its number, from 1.
        tool: the tool to call.
        args_schema: the JSON types seen for each argument, several joined with ` | `.
        validation: the checks that follow directly and so validate what was done up to here.
    """

    step: int
    tool: str
    args_schema: dict[str, str]
    validation: tuple[str, ...] = ()


def typical_order(orders: Mapping[Order, int]) -> Order:
    """Return the order of most successful episodes; in a tie the alphabetically first."""
    return min(orders, key=lambda order: (-orders[order], order))


def recipe_of(
    order: Order, arguments: Mapping[Argument, int], *, max_arguments: int
) -> tuple[RecipeStep, ...]:
    """Return the recipe with the tools in this order.

    Args:
        order: the tools, first to last.
        arguments: how often each argument was seen.
        max_arguments: how many of one tool's arguments are kept, the most frequent first.
    """
    schemas = _schemas(arguments, max_arguments)
    return tuple(
        RecipeStep(number, tool, schemas.get(tool, {}), _checks_after(order, number))
        for number, tool in enumerate(order, start=1)
    )


def _checks_after(order: Order, position: int) -> tuple[str, ...]:
    checks = []
    for tool in order[position:]:
        if not is_check(tool):
            break
        checks.append(tool)
    return tuple(checks)


def _schemas(arguments: Mapping[Argument, int], most: int) -> dict[str, dict[str, str]]:
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    types: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for (tool, name, json_type), count in arguments.items():
        seen[tool][name] += count
        types[tool, name].add(json_type)
    return {
        tool: {name: " | ".join(sorted(types[tool, name])) for name in _most_frequent(names, most)}
        for tool, names in seen.items()
    }


def _most_frequent(names: Counter[str], most: int) -> list[str]:
    kept = sorted(names, key=lambda name: (-names[name], name))[:most]
    return sorted(kept)
