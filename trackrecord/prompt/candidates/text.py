"""The text of a prompt: chosen candidates under the headings of their sections."""

from collections.abc import Collection, Iterable
from typing import Final

from trackrecord.learning.text.language import Language

from .candidate import Candidate
from .rank import Scored
from .sections import AS_HANDED_IN, SECTIONS, Section

_UNDER_HEADING: Final = "\n\n"
_BETWEEN_SECTIONS: Final = "\n\n"
_PLACES: Final = {AS_HANDED_IN.name: AS_HANDED_IN, **SECTIONS}


def section_of(entry: Scored) -> Section:
    """Return the section of a candidate."""
    return _PLACES[entry.section]


def characters_before(section: Section, language: Language, opened: Collection[str]) -> int:
    """Return the number of characters in front of a section's next candidate.

    Args:
        section: the section.
        language: of the headings.
        opened: the names of the sections that the text has so far.
    """
    if section.name in opened:
        return len(section.between)
    opening = len(opening_of(section, language))
    return opening + len(_BETWEEN_SECTIONS) if opened else opening


def opening_of(section: Section, language: Language, *, is_record: bool = False) -> str:
    """Return the heading that opens a section; "" for the agent's own text."""
    headings = section.record_headings if is_record else None
    heading = (headings or section.headings)[language]
    return heading + _UNDER_HEADING if heading else ""


def render(entries: Iterable[Scored], language: Language, *, is_record: bool = False) -> str:
    """Return the text of the chosen entries, "" for none; as a record of the past if asked.

    Sections in their order, and in each the candidates by id: whatever they were ranked by, the
    same candidates give the same bytes. Prompt caches live on that. Only what stands as it was
    handed in keeps its order.
    """
    placed = [(entry.section, entry.candidate) for entry in entries]
    placed.sort(key=_by_id)
    texts = ((section, candidate.text) for section, candidate in placed)
    return _written(texts, language, is_record=is_record)


def _by_id(placed: tuple[str, Candidate]) -> tuple[str, str]:
    section, candidate = placed
    # Sorting is stable.
    return ("", "") if section == AS_HANDED_IN.name else (candidate.id, candidate.kind)


def write(candidates: Iterable[Candidate], language: Language) -> str:
    """Return the text of candidates, "" for nothing: in each section in the order given."""
    return _written(((each.section or each.kind, each.text) for each in candidates), language)


def _written(
    placed: Iterable[tuple[str, str]], language: Language, *, is_record: bool = False
) -> str:
    by_section: dict[str, list[str]] = {}
    for section, text in placed:
        by_section.setdefault(section, []).append(text)
    return _BETWEEN_SECTIONS.join(
        opening_of(section, language, is_record=is_record) + section.between.join(by_section[name])
        for name, section in _PLACES.items()
        if name in by_section
    )
