"""Shares of the budget: no section takes more than its share while others need the room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from trackrecord.learning.text.language import Language

from .rank import Scored
from .sections import Section
from .text import characters_above, section_of


class HasShare(Protocol):
    """A kind of entry with a share of the budget."""

    @property
    def field(self) -> str:
        """Return whose share it is."""
        ...

    @property
    def share(self) -> float:
        """Return the share."""
        ...


@dataclass(frozen=True)
class Shared:
    """Entries in the order in which they are tried.

    Attributes:
        entries: those within their section's share first, each best first.
        over: those that are not tried at all: beyond a share that is never exceeded, or beyond
            what all learnt entries may take.
    """

    entries: tuple[Scored, ...]
    over: tuple[Scored, ...] = ()


class _Shares:
    """The tokens that sections have taken so far."""

    def __init__(self, budget: int, language: Language, ratio: float) -> None:
        self._budget = budget
        self._language = language
        self._ratio = ratio
        self._taken: dict[str, float] = {}
        self._opened: set[str] = set()

    def has_room(
        self, name: str, share: float, section: Section, tokens: int, *, first: bool = False
    ) -> bool:
        """Add an entry if it fits its share; return whether it did.

        Args:
            name: whose share.
            share: of the budget.
            section: where the entry stands.
            tokens: what it counts for.
            first: whether the first entry is counted in whatever it takes.
        """
        if section.name in self._opened:
            outline = len(section.between)
        else:
            outline = characters_above(section, self._language, is_first=not self._opened)
        taken = self._taken.get(name, 0.0) + tokens + outline * self._ratio
        if taken > share * self._budget and not (first and name not in self._taken):
            return False
        self._taken[name] = taken
        self._opened.add(section.name)
        return True


def by_shares(
    entries: Sequence[Scored],
    shared: Mapping[int, HasShare],
    budget: int | None,
    *,
    language: Language,
    ratio: float,
) -> Shared:
    """Put what exceeds its section's share behind the others, so that only room left is used.

    The best entry of a section is within its share, however small the budget is. History comes
    last, and never exceeds its share.

    Args:
        entries: best first.
        shared: by the identity of the candidate, the share of each entry that has one; others
            stay where they are.
        budget: tokens that shares are taken of; None for no shares.
        language: of the headings.
        ratio: tokens per character of headings and separators.
    """
    if budget is None or budget <= 0:
        return Shared(tuple(entries))
    shares = _Shares(budget, language, ratio)
    within: list[Scored] = []
    beyond: list[Scored] = []
    history: list[Scored] = []
    over: list[Scored] = []
    for entry in entries:
        feed = shared.get(id(entry.candidate))
        section = section_of(entry)
        if feed is None:
            within.append(entry)
            continue
        has_room = shares.has_room(
            feed.field, feed.share, section, entry.tokens, first=not section.is_last
        )
        if section.is_last:
            (history if has_room else over).append(entry)
        else:
            (within if has_room else beyond).append(entry)
    return Shared((*within, *beyond, *history), tuple(over))


def capped(
    shared: Shared, learnt: Mapping[int, HasShare], most: int, *, language: Language, ratio: float
) -> Shared:
    """Leave out entries beyond the budget of all learnt entries together.

    Args:
        shared: the entries in the order in which they are tried.
        learnt: by the identity of the candidate, the feed of each learnt entry.
        most: tokens that all learnt entries may take together.
        language: of the headings.
        ratio: tokens per character of headings and separators.
    """
    room = _Shares(most, language, ratio)
    kept: list[Scored] = []
    over = list(shared.over)
    for entry in shared.entries:
        is_learnt = id(entry.candidate) in learnt
        section = section_of(entry)
        if is_learnt and not room.has_room("learnt", 1.0, section, entry.tokens):
            over.append(entry)
        else:
            kept.append(entry)
    return Shared(tuple(kept), tuple(over))
