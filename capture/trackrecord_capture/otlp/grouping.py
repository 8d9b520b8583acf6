"""Group the facts of a trace into runs."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import msgspec

from .fact import Fact
from .tree import Tree
from .vocabulary import SpanKind

VERCEL: Final = "ai."
_SLACK_S: Final = 0.1


class FactGroup(msgspec.Struct, kw_only=True):
    """The facts of one run, and the fact at its root."""

    root: Fact
    facts: list[Fact]
    has_root: bool = True


def grouped(tree: Tree) -> list[FactGroup]:
    """Return the facts of each run."""
    of_root: dict[str, list[Fact]] = defaultdict(list)
    for fact in tree.facts:
        root = tree.root_of(fact)
        if root is not None:
            of_root[root.span].append(fact)
    groups = [
        FactGroup(root=tree.by_span[span], facts=facts)
        for span, facts in of_root.items()
        if any(fact.kind in (SpanKind.TOOL, SpanKind.MODEL, SpanKind.RUN) for fact in facts)
    ]
    groups = _without_doubles(_of_one_session(groups, tree))
    _take_in_strays(groups, tree)
    return sorted(groups, key=lambda group: (group.root.start, group.root.span))


def _of_one_session(groups: list[FactGroup], tree: Tree) -> list[FactGroup]:
    """Join what the Vercel AI SDK traces request by request, where a loop of one's own calls it.

    Requests without a call of a tool, such as the one for a title, are a part of it as well.
    """
    kept, of_session = [], defaultdict(list)
    for group in groups:
        session = first_of(group.facts, "session")
        if group.root.name.startswith(VERCEL) and session:
            of_session[session].append(group)
        else:
            kept.append(group)
    for together in of_session.values():
        facts = [fact for group in together for fact in group.facts]
        complete = all(not tree.is_orphan(group.root) for group in together)
        kept.append(FactGroup(root=together[0].root, facts=facts, has_root=complete))
    return kept


def _take_in_strays(groups: list[FactGroup], tree: Tree) -> None:
    """Add calls whose parents never came to the run of their session, or to the only run."""
    for fact in tree.facts:
        if fact.kind is SpanKind.TOOL and tree.root_of(fact) is None and tree.is_orphan(fact):
            session = fact.session
            same = [group for group in groups if first_of(group.facts, "session") == session]
            if len(same) == 1 or (session and same):
                same[0].facts.append(fact)


def _without_doubles(groups: list[FactGroup]) -> list[FactGroup]:
    """Join runs that two instrumentations report in parallel."""
    kept: list[FactGroup] = []
    for group in sorted(groups, key=lambda group: (group.root.start, -group.root.end)):
        same = next((other for other in kept[-8:] if _is_within(group.root, other.root)), None)
        if same is None:
            kept.append(group)
        else:
            same.facts += group.facts
    return kept


def _is_within(root: Fact, other: Fact) -> bool:
    return (
        root.scope != other.scope
        and root.start >= other.start - _SLACK_S
        and root.end <= other.end + _SLACK_S
    )


def first_of(facts: Iterable[Fact], name: str) -> str:
    """Return the first text that facts hold under a name; "" without one."""
    return next((held for fact in facts if (held := str(getattr(fact, name)))), "")
