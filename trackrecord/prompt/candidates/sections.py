"""The sections of a prompt's text: their order, their headings, how they are written."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from trackrecord.learning.competences.texts import COMPETENCES_HEADING
from trackrecord.learning.memories.texts import MEMORIES_HEADING, PAST_TASKS_HEADING
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.texts import (
    ANTI_PATTERNS_HEADING,
    ANTI_PATTERNS_INTRODUCTION,
    PATTERN_HEADINGS,
)
from trackrecord.learning.text.language import Language

_LINES: Final = "\n"
_BLOCKS: Final = "\n\n"


@dataclass(frozen=True)
class Section:
    """A part of the text.

    Attributes:
        place: where it stands among the sections.
        headings: what stands above its pieces, by language.
        between: what stands between two of them.
    """

    place: int
    headings: dict[Language, str]
    between: str


def _introduced(language: Language) -> str:
    return f"{ANTI_PATTERNS_HEADING[language]}\n\n{ANTI_PATTERNS_INTRODUCTION[language]}"


def _pattern_headings(state: Maturity) -> dict[Language, str]:
    return {"en": PATTERN_HEADINGS["en"][state], "zh": PATTERN_HEADINGS["zh"][state]}


# What is learnt changes least and stands first, so that a prompt cache keeps it; the task last.
_HEADINGS: Final[tuple[tuple[str, str, dict[Language, str]], ...]] = (
    ("anti_pattern", _LINES, {"en": _introduced("en"), "zh": _introduced("zh")}),
    ("proven", _LINES, _pattern_headings(Maturity.PROVEN)),
    ("established", _LINES, _pattern_headings(Maturity.ESTABLISHED)),
    ("candidate", _LINES, _pattern_headings(Maturity.CANDIDATE)),
    ("pattern", _LINES, {"en": "## Patterns", "zh": "## 模式"}),
    ("competence", _LINES, COMPETENCES_HEADING),
    ("memory", _LINES, MEMORIES_HEADING),
    ("past_task", _LINES, PAST_TASKS_HEADING),
    ("phase", _BLOCKS, {"en": "## Phase", "zh": "## 阶段"}),
    ("decision", _BLOCKS, {"en": "## Decisions", "zh": "## 决定"}),
    ("evidence", _BLOCKS, {"en": "## Evidence", "zh": "## 证据"}),
    ("agent_context", _BLOCKS, {"en": "## Context", "zh": "## 上下文"}),
    ("task", _BLOCKS, {"en": "## Tasks", "zh": "## 任务"}),
)
SECTIONS: Final = {
    name: Section(place, headings, between)
    for place, (name, between, headings) in enumerate(_HEADINGS)
}
_UNDER_HEADING: Final = "\n\n"
_BETWEEN_SECTIONS: Final = "\n\n"


class Piece(Protocol):
    """What the text is made of; a candidate is one."""

    @property
    def id(self) -> str:
        """Decides about the order within a section."""

    @property
    def kind(self) -> str:
        """Which section, unless another one is named."""

    @property
    def section(self) -> str | None:
        """The section that is named."""

    @property
    def text(self) -> str:
        """What is written."""


def section_of(piece: Piece) -> Section:
    """The section that a piece stands in."""
    return SECTIONS[piece.section or piece.kind]


class Outline:
    """The headings and separators that a text has so far, counted while pieces are added."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._opened: set[int] = set()

    def more_for(self, section: Section) -> int:
        """How many characters of headings and separators one more piece brings."""
        if section.place in self._opened:
            return len(section.between)
        heading = len(section.headings[self._language]) + len(_UNDER_HEADING)
        return heading + (len(_BETWEEN_SECTIONS) if self._opened else 0)

    def add(self, section: Section) -> None:
        """One more piece stands in this section."""
        self._opened.add(section.place)


def render(pieces: Iterable[Piece], language: Language) -> str:
    """The text of what was chosen, "" for nothing.

    Sections in their order, and in each the pieces by id: whatever they were ranked by, the same
    pieces give the same bytes. Prompt caches live on that.
    """
    by_section: dict[str, list[Piece]] = {}
    for piece in sorted(pieces, key=lambda each: (each.id, each.kind)):
        by_section.setdefault(piece.section or piece.kind, []).append(piece)
    return _BETWEEN_SECTIONS.join(
        section.headings[language]
        + _UNDER_HEADING
        + section.between.join(piece.text for piece in by_section[name])
        for name, section in SECTIONS.items()
        if name in by_section
    )
