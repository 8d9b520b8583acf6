"""How patterns and competence records are presented, to agents and to people alike."""

from collections.abc import Callable

import msgspec

from trackrecord.learning.competences.phrases import instructions_of
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import Status
from trackrecord.learning.competences.selection import recency, selection_score
from trackrecord.learning.competences.texts import Counts, competence_line
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.standing import Standing
from trackrecord.learning.patterns.texts import (
    PLAIN,
    Inversion,
    PatternWording,
    TextRules,
    anti_pattern_line,
    pattern_line,
    warning,
)
from trackrecord.learning.text.inert import as_data
from trackrecord.learning.text.language import Language

from .document import RankedCompetence, RankedPattern

LANGUAGES: tuple[Language, ...] = ("en", "zh")

# A pattern's content in a language: strategies have a name in each.
NameOf = Callable[[str, str, Language], str]


def present_pattern(standing: Standing, name_of: NameOf, texts: TextRules = PLAIN) -> RankedPattern:
    """A standing as it is shown: an anti-pattern as the warning that it has become.

    Args:
        standing: where the pattern stands.
        name_of: gives (slug, content, language) its content in that language.
        texts: how it is worded.
    """
    facts, evidence = standing.facts, standing.evidence
    return RankedPattern(
        id=standing.id,
        content=_content(standing, name_of(facts.slug, facts.content, "en"), texts),
        kind=facts.kind,
        is_negative=standing.is_inverted,
        state=standing.state.value,
        multiplier=standing.multiplier,
        score=standing.failure_score if standing.is_inverted else standing.score,
        success_count=standing.success_count,
        failure_count=standing.failure_count,
        helpful_count=evidence.helpful,
        neutral_count=evidence.neutral,
        harmful_count=evidence.harmful,
        decayed_helpful=evidence.decayed_helpful,
        decayed_harmful=evidence.decayed_harmful,
        harmful_ratio=evidence.harmful_share,
        reason=_reason(standing),
        last_validated=facts.last_validated,
        tags=(facts.kind,),
        lines={
            language: _line(standing, name_of(facts.slug, facts.content, language), language, texts)
            for language in LANGUAGES
        },
    )


def present_competence(record: Competence, *, now: float) -> RankedCompetence:
    """A record as it is shown, scored for a moment without a task."""
    performance = record.performance
    fresh = recency(record.lifecycle.last_reinforced_at, record.lifecycle.half_life_days, now)
    signals = tuple(trigger.signal for trigger in record.triggers)
    return RankedCompetence(
        id=record.id,
        skill_name=record.skill_name,
        status=record.status.value,
        triggers=signals,
        recipe=tuple(msgspec.to_builtins(step) for step in record.recipe),
        success_count=performance.success_count,
        failure_count=performance.failure_count,
        success_rate=performance.success_rate,
        confidence=record.confidence,
        recency=fresh,
        score=selection_score(
            applicability=record.confidence, success=performance.success_rate, recency=fresh
        ),
        lines={language: _competence_line(record, language) for language in LANGUAGES},
        instructions=instructions_of(step.tool for step in record.recipe),
    )


def _competence_line(record: Competence, language: Language) -> str:
    own = [trigger for trigger in record.triggers if trigger.signal != record.signature]
    return competence_line(
        [step.tool for step in record.recipe],
        Counts(record.performance.success_count, record.performance.failure_count),
        [(trigger.signal, Counts(trigger.success_count, trigger.failure_count)) for trigger in own],
        is_contested=record.status is Status.CONTESTED,
        language=language,
    )


def is_recommended(standing: Standing) -> bool:
    """Whether a pattern may be recommended: neither deprecated nor turned into a warning."""
    return not standing.is_inverted and standing.state is not Maturity.DEPRECATED


def _content(standing: Standing, name: str, texts: TextRules) -> str:
    return warning(_inversion(standing, name), rules=texts) if standing.is_inverted else name


def _line(standing: Standing, name: str, language: Language, texts: TextRules) -> str:
    if standing.is_inverted:
        return anti_pattern_line(_inversion(standing, name), language, rules=texts)
    wording = PatternWording(name, standing.state, standing.evidence)
    return pattern_line(wording, language, rules=texts)


def _inversion(standing: Standing, name: str) -> Inversion:
    failures = standing.failure_count
    return Inversion(name, failures, failures + standing.success_count)


def _reason(standing: Standing) -> str:
    """One line; `explain` says more."""
    decision = standing.decision
    if decision is not None:
        why = f": {as_data(decision.reason)}" if decision.reason else ""
        return f"{standing.state} by hand, by {as_data(decision.actor)}{why}"
    if standing.is_inverted:
        failures = standing.failure_count
        return f"failed {failures} of {failures + standing.success_count} times"
    evidence = standing.evidence
    return (
        f"{evidence.decayed_helpful:.2f} helpful, {evidence.decayed_harmful:.2f} harmful "
        "after decay"
    )
