"""From rankings to candidates: how each kind of what is learnt competes for a prompt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..candidates.candidate import Candidate
from ..errors import InvalidCandidate
from ..learning.language import Language
from .answer import fitted
from .document import RankedCompetence, RankedPattern, RankingsDocument

_Ranked = TypeVar("_Ranked", RankedPattern, RankedCompetence)


@dataclass(frozen=True)
class Learnt:
    """What of a project's rankings competes.

    Attributes:
        candidates: the best of each kind, each with its line of prompt text.
        left_out: how many entries do not compete.
    """

    candidates: tuple[Candidate, ...] = ()
    left_out: int = 0


def learnt_candidates(
    document: RankingsDocument, *, task: str | None, most: int, language: Language
) -> Learnt:
    """The best of each kind, as candidates that bring their own score.

    Args:
        document: a project's rankings.
        task: the text of the task at hand, if any.
        most: how many of each kind compete.
        language: of their lines.
    """
    competences = fitted(document.competences, task) if task else document.competences
    candidates = (
        *_competing(document.anti_patterns[:most], language, _of_anti_pattern),
        *_competing(document.patterns[:most], language, _of_pattern),
        *_competing(competences[:most], language, _of_competence),
    )
    there_are = (
        len(document.anti_patterns)
        + len(document.patterns)
        + len(document.competences)
        + sum(document.beyond.values())
    )
    return Learnt(candidates, there_are - len(candidates))


def _competing(
    entries: Sequence[_Ranked], language: Language, made_of: Callable[[_Ranked, str], Candidate]
) -> list[Candidate]:
    """Entries as candidates; another version may have written some that are none here."""
    found = []
    for entry in entries:
        if line := entry.lines.get(language):
            try:
                found.append(made_of(entry, line))
            except InvalidCandidate:  # never an agent's error
                continue
    return found


def _of_anti_pattern(entry: RankedPattern, line: str) -> Candidate:
    return Candidate(
        id=entry.id, kind="anti_pattern", text=line, score=entry.score, content_type="markdown"
    )


def _of_pattern(entry: RankedPattern, line: str) -> Candidate:
    return Candidate(
        id=entry.id,
        kind="pattern",
        section=entry.state,
        text=line,
        score=entry.score,
        content_type="markdown",
    )


def _of_competence(entry: RankedCompetence, line: str) -> Candidate:
    return Candidate(
        id=entry.id, kind="competence", text=line, score=entry.score, content_type="markdown"
    )
