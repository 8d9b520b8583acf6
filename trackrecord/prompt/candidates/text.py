"""The text of a prompt: chosen candidates under the headings of their sections."""

from collections.abc import Iterable
from typing import Final

from trackrecord.learning.text.language import Language

from ..sections import SECTIONS, Section
from .candidate import Candidate

_UNDER_HEADING: Final = "\n\n"
_BETWEEN_SECTIONS: Final = "\n\n"


def section_of(candidate: Candidate) -> Section:
    """The section that a candidate stands in: the one it names, else that of its kind."""
    return SECTIONS[candidate.section or candidate.kind]


def characters_above(section: Section, language: Language, *, is_first: bool) -> int:
    """Return how many characters open a section, with what separates it from the one before."""
    opening = len(section.headings[language]) + len(_UNDER_HEADING)
    return opening if is_first else opening + len(_BETWEEN_SECTIONS)


def render(candidates: Iterable[Candidate], language: Language) -> str:
    """Return the text of what was chosen, "" for nothing.

    Sections in their order, and in each the candidates by id: whatever they were ranked by, the
    same candidates give the same bytes. Prompt caches live on that.
    """
    return write(sorted(candidates, key=lambda each: (each.id, each.kind)), language)


def write(candidates: Iterable[Candidate], language: Language) -> str:
    """Return the text of candidates, "" for nothing: in each section in the order given."""
    by_section: dict[str, list[str]] = {}
    for candidate in candidates:
        by_section.setdefault(candidate.section or candidate.kind, []).append(candidate.text)
    return _BETWEEN_SECTIONS.join(
        section.headings[language] + _UNDER_HEADING + section.between.join(by_section[name])
        for name, section in SECTIONS.items()
        if name in by_section
    )
