"""The document that a project's rankings are cached as.

The worker writes it after each batch, complete with each entry's line of prompt text, so that an
agent has nothing left to compute but what fits its budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from trackrecord.learning.competences.conditions import KnownTrigger
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.memories.rules import MemoryType
from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.learning.text.language import Language

from .advice_document import AdviceDocument
from .labels import Document, Labelled, gist, label

if TYPE_CHECKING:
    from trackrecord.learning.patterns.evidence import Evidence

_Made = TypeVar("_Made")

Lines = dict[str, str]
# What is made for a kind of task takes an agent's memory.
_MOST_KINDS: Final = 16

# The kind of a pattern that is turned into a warning.
ANTI_PATTERN: Final = "anti_pattern"
# In front of a signature in the name of a record that nobody named.
_SKILL: Final = "skill:"


class RankedPattern(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A pattern or anti-pattern as agents and the command line are shown it.

    Attributes:
        id: its slug, `anti-<slug>` for an anti-pattern.
        content: what it says; that of an anti-pattern is the warning.
        kind: "strategy" or "named"; "anti_pattern" once it is turned into a warning.
        is_negative: whether it is a warning.
        state: its maturity.
        multiplier: what the state multiplies the score by.
        score: what it is ranked by among its like.
        success_count: outcomes whose task reached its goal.
        failure_count: outcomes whose task did not.
        helpful_count: the successes and the helpful verdicts by feedback; the raw count behind
            decayed_helpful.
        neutral_count: neutral verdicts by feedback.
        harmful_count: outcomes that scored harmful.
        decayed_helpful: the helpful ones, each weighed by its age.
        decayed_harmful: the harmful ones, each weighed by its age.
        harmful_ratio: decayed harmful ÷ decayed total.
        reason: why it is where it is, in one line.
        last_validated: when helpful or harmful evidence last came, seconds since the epoch.
        tags: what it can be found by.
        lines: its line of prompt text by language.
        succeeded_count: outcomes whose task reached its goal, whatever they scored.
        lang: the language of its texts.
        translations: by language, those of its texts, by the names of fields, that do not follow
            from the rest.
        record_lines: a warning's line without the order in front; empty for all others.
    """

    id: str
    content: str
    kind: str
    is_negative: bool
    state: str
    multiplier: float
    score: float
    success_count: int
    failure_count: int
    helpful_count: int
    neutral_count: int
    harmful_count: int
    decayed_helpful: float
    decayed_harmful: float
    harmful_ratio: float
    reason: str
    last_validated: float | None
    tags: tuple[str, ...]
    lines: Lines
    succeeded_count: int = 0
    lang: str = "en"
    translations: dict[str, dict[str, str]] = {}
    record_lines: Lines = {}

    @property
    def success_rate(self) -> float | None:
        """The share of its outcomes that reached their goal; None without any."""
        total = self.success_count + self.failure_count
        return self.success_count / total if total else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the success rate."""
        return wilson_interval(self.success_count, self.failure_count)

    def texts_in(self, language: Language) -> dict[str, str]:
        """Return its content and its reason in a language, as far as they differ."""
        # Imported only for another language than English: it takes an agent's memory.
        from trackrecord.learning.patterns.texts import counted_reason

        reason = counted_reason(self.evidence, language, inverted=self.is_negative)
        warning = {"content": gist(self.lines, language)} if self.is_negative and self.lines else {}
        return {"reason": reason, **warning, **self.translations.get(language, {})}

    @property
    def evidence(self) -> Evidence:
        """Its counts."""
        from trackrecord.learning.patterns.evidence import Evidence

        return Evidence(
            self.helpful_count,
            self.neutral_count,
            self.harmful_count,
            self.decayed_helpful,
            self.decayed_harmful,
            self.succeeded_count,
        )

    @property
    def label(self) -> str:
        """Return the label for people; a recommended warning is plainly a pattern."""
        if self.is_negative:
            return label("avoid", self.lang)
        return label("pattern" if self.state == "deprecated" else self.state, self.lang)

    @property
    def gist(self) -> str:
        """Return a summary for a table of all kinds."""
        return self.content


class RankedCompetence(Labelled, frozen=True, kw_only=True, array_like=True, gc=False):
    """A competence record as agents are shown it.

    Attributes:
        id: the record's id.
        skill_name: `skill:<signature>`.
        status: "active" or "contested".
        triggers: the signals it answers to.
        recipe: its steps, each {step, tool, args_schema, validation}.
        success_count: successful episodes.
        failure_count: failed ones.
        success_rate: successes ÷ episodes.
        expected_success: how likely the next success is; few episodes hardly move it from how often
            the project's tasks succeed.
        confidence: how far the record itself is trusted, 0..1.
        recency: 0..1, halved with each half-life since it was last reinforced.
        score: (applicability + expected success + recency)/3, applicability being the confidence,
            or the similarity to the task that was asked for.
        lines: its line of prompt text by language.
        instructions: its recipe as a phrase; a task is compared with it and with the triggers.
        conditions: for each trigger, the conditions under which it was seen.
        lang: the language of its label and its gist.
        last_reinforced_at: when its newest success ended, seconds since the epoch; None where
            another version wrote it.
    """

    named = "competence"

    id: str
    skill_name: str
    status: str
    triggers: tuple[str, ...]
    recipe: tuple[dict[str, Any], ...]
    success_count: int
    failure_count: int
    success_rate: float
    confidence: float
    recency: float
    score: float
    lines: Lines
    instructions: str = ""
    expected_success: float = 0.5
    conditions: tuple[tuple[Any, ...], ...] = ()
    lang: str = "en"
    last_reinforced_at: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the success rate."""
        return wilson_interval(self.success_count, self.failure_count)

    @property
    def known_triggers(self) -> tuple[KnownTrigger, ...]:
        """Its triggers, as far as a task is compared with them."""
        return tuple(map(KnownTrigger.of, self.triggers, self.conditions))

    @property
    def signature(self) -> str:
        """Return the signature of its procedure, from its name unless a person chose the name."""
        name = self.skill_name.removeprefix(_SKILL)
        if name != self.skill_name:
            return name
        return signature_of(tuple(dict.fromkeys(step["tool"] for step in self.recipe)))


class RankedFailure(Labelled, frozen=True, kw_only=True, array_like=True, gc=False):
    """A tool procedure that no run succeeded with, as agents are shown it.

    Attributes:
        id: its signature.
        failure_count: runs that used these tools and no others.
        score: what it is ranked by: the cautious failure rate, 0..1.
        lines: its line of prompt text by language.
        lang: the language of its label and its gist.
    """

    named = "never succeeded"

    id: str
    failure_count: int
    score: float
    lines: Lines
    lang: str = "en"


class RankedProcedure(Labelled, frozen=True, kw_only=True, array_like=True, gc=False):
    """A tool procedure that similar tasks succeeded with, as agents are shown it.

    Attributes:
        id: its signature.
        tools: its tools in the order that successes mostly used.
        score: its share of the votes of similar successes, 0..1.
        lines: its line of prompt text by language.
        used_by_successes: runs of similar tasks that used it and reached their goal.
        successes: all runs of similar tasks that reached their goal.
        used_by_failures: runs of similar tasks that used it and did not.
        failures: all runs of similar tasks that did not.
        lang: the language of its label and its gist.
    """

    named = "procedure"

    id: str
    tools: tuple[str, ...]
    score: float
    lines: Lines
    used_by_successes: int = 0
    successes: int = 0
    used_by_failures: int = 0
    failures: int = 0
    lang: str = "en"


class RankedMemory(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A memory as agents are shown it.

    Attributes:
        id: the memory's id.
        text: what it says; that of a known pitfall begins by saying so.
        type: "memory" or "anti-pattern".
        source: who stored it first, None when that was not told.
        confidence: as stored.
        effective_confidence: decayed to when the rankings were computed.
        score: the effective confidence, or what it is ranked by for the task that was asked for.
        lines: its line of prompt text by language.
        lang: the language of its label and its gist.
    """

    id: str
    text: str
    type: str
    source: str | None
    confidence: float
    effective_confidence: float
    score: float
    lines: Lines
    lang: str = "en"

    def texts_in(self, language: Language) -> dict[str, str]:
        """Return its text in a language, as far as it is not an agent's."""
        if self.type != MemoryType.ANTI_PATTERN:
            return {}
        from trackrecord.learning.memories.texts import pitfall_text

        return {"text": pitfall_text(self.text, language)}

    @property
    def label(self) -> str:
        """Return the label for people."""
        return label(self.type, self.lang)

    @property
    def gist(self) -> str:
        """Return a summary for a table of all kinds."""
        return self.text


class RankedCriterion(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A criterion with its weight, as agents are shown it.

    Attributes:
        criterion: its name.
        weight: how far its verdicts can be relied on, 0..1; 0 for a deprecated one.
        deprecated: whether too much of its feedback was harmful: it has no say.
        little_evidence: whether its evidence is too little to rely on.
        helpful_count: helpful verdicts, a raw count.
        neutral_count: neutral ones.
        harmful_count: harmful ones.
        evidence: the decayed mass of the helpful and the harmful ones.
        last_validated: when the last feedback came, seconds since the epoch.
    """

    criterion: str
    weight: float
    deprecated: bool = False
    little_evidence: bool = False
    helpful_count: int = 0
    neutral_count: int = 0
    harmful_count: int = 0
    evidence: float = 0.0
    last_validated: float | None = None


class RankingsDocument(Document, frozen=True, kw_only=True):
    """Everything of one project that a prompt may want.

    Attributes:
        project: whose rankings these are.
        revision: the revision of the store that they show.
        computed_at: when, seconds since the epoch.
        patterns: recommended patterns, best first.
        anti_patterns: warnings, surest first.
        failing: tool procedures that no run succeeded with, surest first.
        competences: records, best first.
        memories: those that count most and that no other has superseded, best first.
        beyond: how many of each kind there are beyond those in the document.
        holdout: the share of tasks that is withheld advice; None where nobody decided.
        others: the patterns that are deprecated by their counts or turned into warnings, worded as
            recommendations: such tasks may go better with them all the same.
        promoted: the ids of those that a person promoted, whatever a comparison says.
        candidate_multiplier: what a candidate's score is multiplied by.
        disputed: the signatures of records that somebody has contested or retracted.
        needs_more_below: a choice among records whose confidence is below this value asks for more
            information.
        criteria: the weights of criteria, by name; those with most feedback where there are many.
        unconfirmed: the ids of the memories that one source alone tells where there are several:
            they are told to tasks that they fit.
    """

    project: str
    revision: int
    computed_at: float
    patterns: tuple[RankedPattern, ...] = ()
    anti_patterns: tuple[RankedPattern, ...] = ()
    failing: tuple[RankedFailure, ...] = ()
    competences: tuple[RankedCompetence, ...] = ()
    memories: tuple[RankedMemory, ...] = ()
    beyond: dict[str, int] = msgspec.field(default_factory=dict)
    holdout: float | None = None
    others: tuple[RankedPattern, ...] = ()
    promoted: tuple[str, ...] = ()
    candidate_multiplier: float = 0.5
    disputed: tuple[str, ...] = ()
    needs_more_below: float = 0.7
    criteria: tuple[RankedCriterion, ...] = ()
    unconfirmed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProjectDocuments:
    """The cached documents of a project.

    Attributes:
        document: its rankings, None when there are none.
        advice: what is counted from its runs, None when that was not done yet.
        problem: what kept us from fresh ones, None when all is well.
    """

    document: RankingsDocument | None = None
    advice: AdviceDocument | None = None
    problem: str | None = None


def made_once(
    document: RankingsDocument,
    advice: AdviceDocument | None,
    name: str,
    kind: int | None,
    make: Callable[[], _Made],
) -> _Made:
    """Return a value derived from both documents for a kind of task, computed once."""
    made_with, made = document.derived.get(name, (None, None))
    if made is None or made_with is not advice or (len(made) >= _MOST_KINDS and kind not in made):
        made = {}
        document.derived[name] = advice, made
    if kind not in made:
        made[kind] = make()
    found: _Made = made[kind]
    return found


_decoder = msgspec.json.Decoder(RankingsDocument)
_encoder = msgspec.json.Encoder()


def encode_document(document: RankingsDocument) -> bytes:
    """The document as it is cached."""
    return _encoder.encode(document)


def decode_document(data: bytes) -> RankingsDocument:
    """The document from the cache.

    Raises:
        msgspec.DecodeError: it was written by another version.
    """
    return _decoder.decode(data)
