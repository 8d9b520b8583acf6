"""From rankings to candidates: how what is learnt competes for a prompt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from trackrecord.errors import InvalidCandidate
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.text.language import Language

from .candidates.candidate import Candidate
from .candidates.rank import Scored, score_all
from .candidates.rules import ContextRules
from .candidates.sections import FEEDS, SECTIONS, Feed, Section
from .candidates.text import write
from .document import (
    RankedCompetence,
    RankedMemory,
    RankedPattern,
    RankedTask,
    RankingsDocument,
)

Entry = RankedPattern | RankedCompetence | RankedMemory | RankedTask


@dataclass(frozen=True)
class Learnt:
    """What of a project's rankings competes.

    Attributes:
        by_field: by the field of the rankings, each entry that competes, best first.
        left_out: how many entries do not compete.
    """

    by_field: Mapping[str, Sequence[tuple[Entry, Scored]]] = field(default_factory=dict)
    left_out: int = 0

    @property
    def entries(self) -> list[Scored]:
        """All that compete, section by section."""
        return [scored for _, scored in chain.from_iterable(self.by_field.values())]

    def taken(self, candidates: Iterable[Candidate]) -> dict[str, tuple[Entry, ...]]:
        """Return, by field, the entries whose candidates these are, best first."""
        wanted = {id(candidate) for candidate in candidates}
        return {
            name: tuple(entry for entry, scored in pairs if id(scored.candidate) in wanted)
            for name, pairs in self.by_field.items()
        }


def learnt_of(
    document: RankingsDocument,
    rules: ContextRules,
    *,
    task: str | None,
    most: int | None,
    language: Language,
    memory_rules: MemoryRules = MemoryRules(),  # noqa: B008 - frozen
) -> Learnt:
    """Return the best of each kind, as candidates that bring their own score.

    Args:
        document: a project's rankings.
        rules: the weights and ratios.
        task: the text of the task at hand, if any; without one no past task is similar to it.
        most: how many of each kind compete; None for all.
        language: of their lines.
        memory_rules: how memories are ranked for a task.
    """
    by_field: dict[str, Sequence[tuple[Entry, Scored]]] = {}
    beyond = dict(document.beyond)
    there_are = 0
    for feed in FEEDS:
        entries = _offered(document, feed, task, memory_rules)
        there_are += len(entries)
        if task and feed.only_related:
            # What has nothing to do with the task is not left out: it would not compete anyway.
            beyond.pop(feed.field, None)
        made = _made(document, feed, language, rules)
        known = [(entry, made[entry.id]) for entry in entries[:most] if entry.id in made]
        if task and feed.for_task is not None:
            weight = getattr(rules, feed.weight)
            known = [(entry, scored.at(entry.score * weight)) for entry, scored in known]
        by_field[feed.field] = known
    competing = sum(map(len, by_field.values()))
    return Learnt(by_field, there_are + sum(beyond.values()) - competing)


def _offered(
    document: RankingsDocument, feed: Feed, task: str | None, memory_rules: MemoryRules
) -> Sequence[Entry]:
    entries: Sequence[Entry] = getattr(document, feed.field)
    if not task:
        return () if feed.needs_task else entries
    return entries if feed.for_task is None else feed.for_task(entries, task, memory_rules)


def _made(
    document: RankingsDocument, feed: Feed, language: Language, rules: ContextRules
) -> dict[str, Scored]:
    """Return a feed's candidates by their entries' ids, made once and not for each prompt."""
    key = feed.field, language
    made: dict[str, Scored]
    made_by, made = document.derived.get(key, (None, {}))
    if made_by is not rules and made_by != rules:
        candidates = _candidates(getattr(document, feed.field), feed, language)
        made = dict(zip(candidates, score_all(candidates.values(), rules), strict=True))
        document.derived[key] = rules, made
    return made


def _candidates(entries: Iterable[Entry], feed: Feed, language: Language) -> dict[str, Candidate]:
    """Return entries as candidates; those that another version wrote may not be ones here."""
    sections = FEEDS[feed]
    candidates = {}
    for entry in entries:
        section = sections.get(None) or sections.get(getattr(entry, "state", None))
        line = entry.lines.get(language)
        if section is not None and line:
            try:
                candidates[entry.id] = _candidate(entry, section, line)
            except InvalidCandidate:  # never an agent's error
                continue
    return candidates


def _candidate(entry: Entry, section: Section, line: str) -> Candidate:
    is_its_kinds_own = section.name == section.kind
    return Candidate(
        id=entry.id if is_its_kinds_own else section.prefix + entry.id,
        kind=section.kind,
        section=None if is_its_kinds_own else section.name,
        text=line,
        score=entry.score,
        content_type="markdown",
    )


def patterns_text(
    patterns: Iterable[RankedPattern], language: Language, *, with_deprecated: bool = False
) -> str:
    """Return patterns as prompt text; within a section the given order stays.

    Args:
        patterns: of any state, and anti-patterns.
        language: of the text.
        with_deprecated: whether the patterns that nobody is recommended stand in it.
    """
    placed = (
        (each, SECTIONS["anti_pattern" if each.is_negative else each.state]) for each in patterns
    )
    return write(
        (
            _candidate(pattern, section, pattern.lines[language])
            for pattern, section in placed
            if section.feed is not None or with_deprecated
        ),
        language,
    )
