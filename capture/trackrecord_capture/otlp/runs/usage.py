"""Tokens and costs of a run, counted once however many instrumentations report them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from ..facts.fact import Fact
from ..facts.vocabulary import SpanKind


def tokens_of(
    root: Fact, facts: Sequence[Fact], name: Literal["tokens_in", "tokens_out"]
) -> int | None:
    """Return the tokens of all requests to models, else those that the root sums up."""
    of_scope: dict[str, int] = defaultdict(int)
    for fact in facts:
        count = getattr(fact, name)
        if fact.kind is SpanKind.MODEL and count is not None:
            of_scope[fact.scope] += count
    if of_scope:
        return max(of_scope.values())
    summed: int | None = getattr(root, name)
    return summed


def usd_of(root: Fact, facts: Sequence[Fact]) -> float | None:
    """Return the cost of the requests to models, else the root's own figure."""
    of_scope: dict[str, float] = defaultdict(float)
    for fact in facts:
        if fact.kind is SpanKind.MODEL and fact.usd is not None and fact.usd >= 0:
            of_scope[fact.scope] += fact.usd
    return max(of_scope.values()) if of_scope else root.usd
