"""Choosing what fits a token budget, and rendering it in a stable order.

Tokens are counted as ceil(characters · 0.30), the ratio of Markdown. Headings and separators
count too: the rendered text is never over the budget by that same count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import msgspec

MARKDOWN_RATIO = 0.30


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """One line that may stand in the text.

    Attributes:
        section: the heading it stands under, an index into the sections.
        id: unique among the candidates.
        score: the higher, the sooner it is chosen.
        line: its text, one line.
    """

    section: int
    id: str
    score: float
    line: str


@dataclass(frozen=True)
class Chosen:
    """What was chosen.

    Attributes:
        ids: of the candidates that were taken.
        text: the rendered text, "" when nothing was taken.
        over_budget: the ids of those that did not fit, best first.
    """

    ids: frozenset[str]
    text: str
    over_budget: tuple[str, ...]

    @property
    def left_out(self) -> int:
        """How many did not fit."""
        return len(self.over_budget)


def tokens_of(characters: int) -> int:
    """How many tokens a Markdown text of that many characters is taken for."""
    return ceil(characters * MARKDOWN_RATIO)


def choose_within(
    candidates: Iterable[Candidate], headings: Sequence[str], budget: int | None
) -> Chosen:
    """Take the best candidates that fit the budget, and render them by section and id.

    After one that does not fit, smaller ones further down are still tried. An unchanged choice
    renders to the same bytes, whatever the scores: prompt caches live on that.

    Args:
        candidates: in any order; ties of score go by section and id.
        headings: each section's heading, with what stands between it and its lines.
        budget: in tokens; None for everything, 0 or less for nothing.
    """
    ranked = sorted(candidates, key=lambda each: (-each.score, each.section, each.id))
    taken: list[list[Candidate]] = [[] for _ in headings]
    characters = 0
    shortest = min((len(candidate.line) for candidate in ranked), default=0)
    for candidate in ranked:
        if budget is not None and tokens_of(characters + 1 + shortest) > budget:
            break
        section = taken[candidate.section]
        more = 1 + len(candidate.line)
        if not section:
            # A heading, its empty line, and the empty line before the next section.
            more += len(headings[candidate.section]) + (2 if characters else 0)
        if budget is not None and tokens_of(characters + more) > budget:
            continue
        characters += more
        section.append(candidate)
    ids = frozenset(candidate.id for section in taken for candidate in section)
    return Chosen(
        ids=ids,
        text=_rendered(taken, headings),
        over_budget=tuple(each.id for each in ranked if each.id not in ids),
    )


def _rendered(taken: Sequence[Sequence[Candidate]], headings: Sequence[str]) -> str:
    sections = (
        "\n".join([heading, *(each.line for each in sorted(section, key=lambda each: each.id))])
        for heading, section in zip(headings, taken, strict=True)
        if section
    )
    return "\n\n".join(sections)
