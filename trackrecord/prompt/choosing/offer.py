"""Offers: competing entries, with their relevance to the task."""

from bisect import insort
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nextafter
from typing import Any, Final, Literal

import msgspec

from trackrecord.learning.competences.conditions import Fit

# What says that an entry has to do with a task.
Basis = Literal["project", "words", "tools", "kinds", "text", "meaning", "votes"]
# How many of a section stand in where nothing is related.
FEW: Final = 3


# No work for the garbage collector: a prompt makes hundreds of them.
class Offer(msgspec.Struct, frozen=True, gc=False):
    """An entry that competes.

    Attributes:
        entry: the entry.
        relevance: how much it has to do with the task, 0..1; 1 without a task.
        value: what it is ranked by among all sections.
        basis: what its relevance follows from.
    """

    entry: Any
    relevance: float
    value: float
    basis: Basis


@dataclass(frozen=True)
class SectionOffers:
    """The entries of a section, with their relevance.

    Attributes:
        offers: what has to do with the task, or with the project without one; best first.
        general: what holds for the project as a whole and may stand in where nothing is related.
        pool: all entries, best first.
        refuted: the ids of what is left out because the counts speak against it.
        tried: the ids of what is offered although the counts speak against it.
        beside: entries that nobody misses, and that may be offered all the same.
        fits: by id, how far the task's conditions agree with those of entries; empty where no
            conditions were asked for.
    """

    offers: Sequence[Offer] = ()
    general: Sequence[Offer] = ()
    pool: Sequence[Any] = ()
    refuted: frozenset[str] = frozenset()
    tried: frozenset[str] = frozenset()
    beside: tuple[Any, ...] = ()
    fits: Mapping[str, Fit] = field(default_factory=dict)


def offers_of(entries: Iterable[Any]) -> list[Offer]:
    """Return entries as offers that hold for the project, in the order given."""
    return [Offer(each, 1.0, each.score, "project") for each in entries]


def best_first(offers: Iterable[Offer]) -> list[Offer]:
    """Return offers by their value, equal ones by id."""
    return sorted(offers, key=_best_first)


def ranked_below(offers: Sequence[Offer], outranked: Collection[str]) -> Sequence[Offer]:
    """Return offers with those of these ids no higher than any other."""
    if not outranked:
        return offers
    others = (each.value for each in offers if each.entry.id not in outranked)
    most = nextafter(min(others, default=inf), 0.0)
    return best_first(
        msgspec.structs.replace(each, value=min(each.value, most))
        if each.entry.id in outranked
        else each
        for each in offers
    )


def with_offers(offers: Sequence[Offer], added: Iterable[Offer]) -> list[Offer]:
    """Return offers, which are in order, with a few others in their places."""
    found = list(offers)
    for each in added:
        insort(found, each, key=_best_first)
    return found


def _best_first(offer: Offer) -> tuple[float, str]:
    return -offer.value, offer.entry.id
