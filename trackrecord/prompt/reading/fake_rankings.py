"""Rankings that a test gives, in place of those that Redis holds."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import starmap
from types import MappingProxyType

from trackrecord.learning.advice.moments.facts import CachedMoments
from trackrecord.learning.memories.rules import MemoryType
from trackrecord.learning.memories.texts import memory_line
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.text.inert import one_line
from trackrecord.learning.text.language import LANGUAGES
from trackrecord.settings.settings import Settings

from ..documents.rankings_document import (
    ANTI_PATTERN,
    Lines,
    RankedCompetence,
    RankedCriterion,
    RankedMemory,
    RankedPattern,
    RankingsDocument,
)
from .client import Cached, RankingsReader, given_readers

_CONFIDENCE = 0.8


@dataclass
class FixedRankings(RankingsReader):
    """Answers from a fixed document, without a server.

    Attributes:
        given: what is known, of whichever project.
        only: the project that it is known of; None for any.
    """

    given: RankingsDocument | None = None
    only: str | None = None

    def cached(self, project: str) -> Cached:
        """Return the fixed document, unless it belongs to another project."""
        if self.given is None or self.only not in (None, project):
            return Cached(problem="nothing is learnt yet")
        return Cached(self.given)

    def moments(self, project: str) -> CachedMoments:  # noqa: ARG002 - of any project
        """Return nothing: a test gives entries, and no history of calls."""
        return CachedMoments()


@contextmanager
def rankings_of(
    *,
    patterns: Iterable[RankedPattern | str] = (),
    anti_patterns: Iterable[RankedPattern | str] = (),
    competences: Iterable[RankedCompetence | str] = (),
    memories: Iterable[RankedMemory | str] = (),
    criteria: Mapping[str, float] = MappingProxyType({}),
    project: str | None = None,
) -> Iterator[None]:
    """Let `rankings()`, `context()` and `weigh()` answer from these entries in the block.

    Everything else is as it is with Redis: budgets, limits, languages, and how entries are fitted
    to a task. The settings are the defaults. Each entry is an object as `rankings()` returns it, or
    a text, which stands for one that is well established.

    Args:
        patterns: recommended patterns, best first.
        anti_patterns: warnings, surest first.
        competences: competence records, best first.
        memories: memories, best first.
        criteria: the weight of each criterion, from 0 (deprecated) to 1.
        project: the project that they belong to, so that others have none; any when not given.
    """
    given = RankingsDocument(
        project=project or "",
        revision=0,
        computed_at=time.time(),
        patterns=tuple(_pattern(entry, is_negative=False) for entry in patterns),
        anti_patterns=tuple(_pattern(entry, is_negative=True) for entry in anti_patterns),
        competences=tuple(_competence(entry) for entry in competences),
        memories=tuple(starmap(_memory, enumerate(memories, start=1))),
        criteria=tuple(
            RankedCriterion(criterion=name, weight=weight, deprecated=not weight)
            for name, weight in sorted(criteria.items())
        ),
    )
    # Built without reading the environment: a test must not depend on it.
    reader = FixedRankings(Settings.model_construct(), given=given, only=project)
    with given_readers.within(reader):
        yield


def _lines(text: str) -> Lines:
    return dict.fromkeys(LANGUAGES, f"- {one_line(text)}")


def _pattern(entry: RankedPattern | str, *, is_negative: bool) -> RankedPattern:
    if isinstance(entry, RankedPattern):
        return entry
    helpful, harmful = (0, 10) if is_negative else (10, 0)
    return RankedPattern(
        id=f"anti-{entry}" if is_negative else entry,
        content=entry,
        kind=ANTI_PATTERN if is_negative else "named",
        is_negative=is_negative,
        state=Maturity.DEPRECATED.value if is_negative else Maturity.PROVEN.value,
        multiplier=1.0,
        score=1.0,
        success_count=helpful,
        failure_count=harmful,
        helpful_count=helpful,
        neutral_count=0,
        harmful_count=harmful,
        decayed_helpful=float(helpful),
        decayed_harmful=float(harmful),
        harmful_ratio=float(is_negative),
        reason="given by a test",
        last_validated=None,
        tags=("named",),
        lines=_lines(f"AVOID: {entry}" if is_negative else entry),
    )


def _competence(entry: RankedCompetence | str) -> RankedCompetence:
    if isinstance(entry, RankedCompetence):
        return entry
    return RankedCompetence(
        id=entry,
        skill_name=f"skill:{entry}",
        status="active",
        triggers=(),
        recipe=(),
        success_count=10,
        failure_count=0,
        success_rate=1.0,
        confidence=_CONFIDENCE,
        recency=1.0,
        score=1.0,
        lines=_lines(entry),
        instructions=entry,
    )


def _memory(number: int, entry: RankedMemory | str) -> RankedMemory:
    if isinstance(entry, RankedMemory):
        return entry
    return RankedMemory(
        id=f"memory-{number}",
        text=entry,
        type=MemoryType.MEMORY.value,
        source=None,
        confidence=_CONFIDENCE,
        effective_confidence=_CONFIDENCE,
        score=_CONFIDENCE,
        lines={
            language: memory_line(
                entry, MemoryType.MEMORY, confidence=_CONFIDENCE, language=language
            )
            for language in LANGUAGES
        },
    )
