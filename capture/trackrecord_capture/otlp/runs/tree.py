"""The facts of a trace as a tree, although some spans may be missing."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import Final

from ..facts.fact import Fact
from ..facts.vocabulary import SpanKind

_RUNS: Final = (SpanKind.RUN, SpanKind.STEP)
# Nothing that is traced is nested as deeply; what claims to be stands above itself.
_DEEPEST: Final = 256
_LAYERS: Final = 4


class Tree:
    """The parents and children of facts.

    Args:
        facts: what the spans of one trace tell, the earliest first.
    """

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.facts = facts
        self.by_span = {fact.span: fact for fact in facts}
        self._roots: dict[str, Fact | None] = {}
        self._details: dict[str, list[Fact]] = defaultdict(list)
        self._callers: set[str] = set()
        for fact in facts:
            if fact.kind is SpanKind.DETAIL:
                self._details[fact.parent].append(fact)
            if fact.kind is SpanKind.TOOL:
                self._callers.add(fact.parent)

    def above(self, fact: Fact) -> Iterator[Fact]:
        """Yield the ancestors of a fact, without itself; ends even if spans form a circle."""
        for _ in range(_DEEPEST):
            parent = self.by_span.get(fact.parent)
            if parent is None:
                return
            yield parent
            fact = parent

    def root_of(self, fact: Fact) -> Fact | None:
        """Return the root of a fact's run: the topmost agent, workflow or graph above it.

        A call of a tool without any of these hangs on the topmost span of all, if there is one.
        """
        if fact.span in self._roots:
            return self._roots[fact.span]
        parent = self.by_span.get(fact.parent)
        above = self._known_root(parent) if parent is not None else None
        root = above or self._root_of_its_own(fact)
        self._roots[fact.span] = root
        return root

    def _known_root(self, parent: Fact) -> Fact | None:
        """Return the root of a parent, walking down from the top so that no depth is too deep."""
        unknown = takewhile(
            lambda each: each.span not in self._roots, chain([parent], self.above(parent))
        )
        for each in reversed(list(unknown)):
            higher = self._roots.get(each.parent)
            self._roots[each.span] = higher or (each if each.kind in _RUNS else None)
        return self._roots[parent.span]

    def _root_of_its_own(self, fact: Fact) -> Fact | None:
        if fact.kind in _RUNS:
            return fact
        if fact.kind is not SpanKind.TOOL:
            return None
        top = fact
        for top in self.above(fact):  # noqa: B007 - the last one is wanted
            pass
        return top if top is not fact else None

    def agent_above(self, fact: Fact) -> Fact | None:
        """Return the nearest agent above a fact."""
        return next((each for each in self.above(fact) if each.kind is SpanKind.RUN), None)

    def is_inside_same_call(self, fact: Fact) -> bool:
        """Return whether a call is nested in a call of the same tool with the same arguments.

        That is one call, told twice by two layers, or by an instrumentation that is on twice.
        """
        return any(
            each.kind is SpanKind.TOOL
            and each.tool == fact.tool
            and each.arguments == fact.arguments
            for each in islice(self.above(fact), _LAYERS)
        )

    def details_of(self, fact: Fact) -> list[Fact]:
        """Return the parts of a call that know how it went."""
        return self._details.get(fact.span, [])

    def has_calls(self, fact: Fact) -> bool:
        """Return whether tools were called right under a fact."""
        return fact.span in self._callers

    def is_orphan(self, fact: Fact) -> bool:
        """Return whether something above a fact has not come (yet)."""
        top = fact
        for top in self.above(fact):  # noqa: B007 - as above
            pass
        return bool(top.parent) and top.parent not in self.by_span
