"""From rankings to candidates: how what is learnt competes for a prompt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

import msgspec

from trackrecord.errors import InvalidCandidate
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.text.language import Language

from .candidates.candidate import Candidate
from .candidates.rank import Scored, score_all
from .candidates.rules import ContextRules
from .candidates.text import write
from .document import (
    RankedCompetence,
    RankedMemory,
    RankedPattern,
    RankedTask,
    RankingsDocument,
)
from .handed import Handing
from .sections import FEEDS, SECTIONS, Feed, Section

_AS_THEY_ARE: Final = Handing()

Entry = RankedPattern | RankedCompetence | RankedMemory | RankedTask


@dataclass(frozen=True)
class LearntEntries:
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
            name: tuple([entry for entry, scored in pairs if id(scored.candidate) in wanted])
            for name, pairs in self.by_field.items()
        }


def learnt_of(
    document: RankingsDocument,
    rules: ContextRules,
    *,
    task: str | None,
    most: int | None,
    language: Language,
    memory_rules: MemoryRules,
    handing: Handing = _AS_THEY_ARE,
) -> LearntEntries:
    """Return the best of each kind, as candidates that bring their own score.

    Args:
        document: a project's rankings.
        rules: the weights and ratios.
        task: the text of the task at hand, if any; without one no past task is similar to it.
        most: how many of each kind compete; None for all.
        language: of their lines.
        memory_rules: how memories are ranked for a task.
        handing: what is tried on the task, and what is withdrawn.
    """
    by_field: dict[str, Sequence[tuple[Entry, Scored]]] = {}
    beyond = dict(document.beyond)
    there_are = 0
    for feed in FEEDS:
        entries = _offered(document, feed, task, memory_rules)
        if handing.withdrawn:
            entries = [each for each in entries if _id_of(feed, each) not in handing.withdrawn]
        entries = handing.in_order(feed.field, entries)
        there_are += len(entries)
        if task and feed.only_related:
            # What has nothing to do with the task is not left out: it would not compete anyway.
            beyond.pop(feed.field, None)
        entries = entries[: _most(feed, most)]
        if feed.merges_equal:  # their lines may differ from those of the document
            made = _scored(entries, feed, language, rules)
        else:
            made = _scored_once(document, feed, language, rules)
        known = [(entry, scored) for entry in entries if (scored := made.get(entry.id))]
        if task and feed.for_task is not None:
            weight = getattr(rules, feed.weight)
            known = [(entry, scored.at(entry.score * weight)) for entry, scored in known]
        by_field[feed.field] = _tried(known, feed, handing, language, rules)
    competing = sum(map(len, by_field.values()))
    return LearntEntries(by_field, there_are + sum(beyond.values()) - competing)


def _tried(
    known: list[tuple[Entry, Scored]],
    feed: Feed,
    handing: Handing,
    language: Language,
    rules: ContextRules,
) -> list[tuple[Entry, Scored]]:
    """Return a feed's entries with the scores that were drawn for them, and with what is tried."""
    if feed.field not in handing.rates:
        return known
    weight = getattr(rules, feed.weight)
    return [
        (
            entry,
            _marked(scored, feed, handing, language, rules).at(
                handing.score(feed.field, entry) * weight
            ),
        )
        for entry, scored in known
    ]


def _marked(
    scored: Scored, feed: Feed, handing: Handing, language: Language, rules: ContextRules
) -> Scored:
    candidate = scored.candidate
    if candidate.id not in handing.tried.get(feed.field, ()):
        return scored
    line = handing.line(feed.field, candidate.id, candidate.text, language)
    (marked,) = score_all([msgspec.structs.replace(candidate, text=line)], rules)
    return marked


def _id_of(feed: Feed, entry: Entry) -> str:
    """Return an entry's id among those of all fields."""
    return next(iter(FEEDS[feed].values())).prefix + entry.id


def _offered(
    document: RankingsDocument, feed: Feed, task: str | None, memory_rules: MemoryRules
) -> Sequence[Entry]:
    entries: Sequence[Entry] = getattr(document, feed.field)
    if not task:
        return () if feed.needs_task else entries
    if feed.for_task is not None:
        entries = feed.for_task(entries, task, memory_rules)
    return _merged(entries) if feed.merges_equal else entries


def _most(feed: Feed, most: int | None) -> int | None:
    limits = [limit for limit in (feed.at_most, most) if limit is not None]
    return min(limits, default=None)


def _merged(entries: Iterable[Entry]) -> list[Entry]:
    """Return the first of each group of entries with equal lines, with the count in its lines."""
    alike: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        alike.setdefault(tuple(entry.lines.values()), []).append(entry)
    return [_counted(same[0], len(same)) for same in alike.values()]


def _counted(entry: Entry, count: int) -> Entry:
    if count == 1:
        return entry
    lines = {language: f"{line} ×{count}" for language, line in entry.lines.items()}
    return msgspec.structs.replace(entry, lines=lines)


def _scored_once(
    document: RankingsDocument, feed: Feed, language: Language, rules: ContextRules
) -> dict[str, Scored]:
    """Return all of a feed's entries as candidates: made once for a document, not for a prompt."""
    key = feed.field, language
    made: dict[str, Scored]
    made_by, made = document.derived.get(key, (None, {}))
    if made_by is not rules and made_by != rules:
        made = _scored(getattr(document, feed.field), feed, language, rules)
        document.derived[key] = rules, made
    return made


def _scored(
    entries: Iterable[Entry], feed: Feed, language: Language, rules: ContextRules
) -> dict[str, Scored]:
    """Return entries as candidates, by id; those that another version wrote may not be ones."""
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
    return dict(zip(candidates, score_all(candidates.values(), rules), strict=True))


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
