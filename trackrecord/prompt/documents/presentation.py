"""Present learnt facts to agents and people alike: facts in, entries with lines out."""

from collections.abc import Callable
from dataclasses import replace

import msgspec

from trackrecord.learning.competences.phrases import instructions_of
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import Status
from trackrecord.learning.competences.selection import expected_success, recency, selection_score
from trackrecord.learning.competences.texts import ProcedureRuns, competence_line, failing_line
from trackrecord.learning.criteria.weights import CriterionStanding
from trackrecord.learning.memories.rules import MemoryRules, MemoryState, effective_confidence
from trackrecord.learning.memories.texts import memory_line
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import Maturity, base_score
from trackrecord.learning.patterns.standing import Standing
from trackrecord.learning.patterns.texts import (
    PLAIN,
    PatternWording,
    TextRules,
    anti_pattern_line,
    counted_line,
    failures,
    pattern_line,
    reason_of,
    warning,
)
from trackrecord.learning.text.language import LANGUAGES, Language

from .rankings_document import (
    ANTI_PATTERN,
    RankedCompetence,
    RankedCriterion,
    RankedFailure,
    RankedMemory,
    RankedPattern,
)

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
    shown = RankedPattern(
        id=standing.id,
        content=_content(standing, name_of, "en", texts),
        kind=ANTI_PATTERN if standing.is_inverted else facts.kind,
        is_negative=standing.is_inverted,
        state=standing.state.value,
        multiplier=standing.multiplier,
        score=standing.failure_score if standing.is_inverted else standing.score,
        success_count=evidence.succeeded,
        failure_count=evidence.failed,
        helpful_count=evidence.helpful,
        neutral_count=evidence.neutral,
        harmful_count=evidence.harmful,
        succeeded_count=evidence.succeeded,
        decayed_helpful=evidence.decayed_helpful,
        decayed_harmful=evidence.decayed_harmful,
        harmful_ratio=evidence.harmful_share,
        reason=reason_of(standing),
        last_validated=facts.last_validated,
        tags=facts.all_tags,
        lines={language: _line(standing, name_of, language, texts) for language in LANGUAGES},
        record_lines=_record_lines(standing, name_of, texts),
    )
    said = {
        "content": _content(standing, name_of, "zh", texts),
        "reason": reason_of(standing, "zh"),
    }
    following = {"content": shown.content, **shown.texts_in("zh")}
    own = {name: text for name, text in said.items() if following[name] != text}
    return msgspec.structs.replace(shown, translations={"zh": own}) if own else shown


def present_other(standing: Standing, name_of: NameOf, texts: TextRules = PLAIN) -> RankedPattern:
    """Return a pattern that is deprecated or turned into a warning, as it is recommended.

    Its line gives its counts alone: whether such tasks go better with it, the advice tells.

    Args:
        standing: where the pattern stands.
        name_of: gives (slug, content, language) its content in that language.
        texts: how it is worded.
    """
    shown = present_pattern(replace(standing, is_inverted=False), name_of, texts)
    lines = {
        language: counted_line(_wording(standing, name_of, language), language)
        for language in LANGUAGES
    }
    return msgspec.structs.replace(shown, lines=lines)


def present_failing(signature: str, failures: int) -> RankedFailure:
    """Return a procedure that no run succeeded with as it is shown.

    Args:
        signature: its tools.
        failures: runs that used these tools and no others.
    """
    return RankedFailure(
        id=signature,
        failure_count=failures,
        score=base_score(Evidence(decayed_helpful=float(failures))),
        lines={language: failing_line(signature, failures, language) for language in LANGUAGES},
    )


def present_competence(record: Competence, *, now: float, base_rate: float) -> RankedCompetence:
    """Return a record as it is shown, scored for a moment without a task.

    Args:
        record: the record.
        now: the moment, seconds since the epoch.
        base_rate: how often the project's tasks succeed, 0..1.
    """
    performance = record.performance
    expected = expected_success(performance.success_count, performance.failure_count, base_rate)
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
        score=selection_score(applicability=record.confidence, success=expected, recency=fresh),
        expected_success=expected,
        lines={language: _competence_line(record, language) for language in LANGUAGES},
        instructions=instructions_of(step.tool for step in record.recipe),
        conditions=tuple(trigger.all_conditions for trigger in record.triggers),
        last_reinforced_at=record.lifecycle.last_reinforced_at,
    )


def _competence_line(record: Competence, language: Language) -> str:
    own = [trigger for trigger in record.triggers if trigger.signal != record.signature]
    return competence_line(
        [step.tool for step in record.recipe],
        ProcedureRuns(record.performance.success_count, record.performance.failure_count),
        [
            (trigger.signal, ProcedureRuns(trigger.success_count, trigger.failure_count))
            for trigger in own
        ],
        is_contested=record.status is Status.CONTESTED,
        language=language,
    )


def present_memory(
    memory_id: str,
    text: str,
    state: MemoryState,
    *,
    source: str | None,
    rules: MemoryRules,
    now: float,
) -> RankedMemory:
    """Return a memory as it is shown, scored for a moment without a task.

    Args:
        memory_id: its id.
        text: what it says.
        state: where it stands.
        source: who stored it first, None when that was not told.
        rules: how its confidence decays.
        now: the moment, seconds since the epoch.
    """
    effective = effective_confidence(rules, state, now)
    return RankedMemory(
        id=memory_id,
        text=text,
        type=state.type.value,
        source=source,
        confidence=state.confidence,
        effective_confidence=effective,
        score=effective,
        lines={
            language: memory_line(text, state.type, confidence=state.confidence, language=language)
            for language in LANGUAGES
        },
    )


def present_criterion(standing: CriterionStanding) -> RankedCriterion:
    """Return a criterion's weight as it is shown."""
    evidence = standing.evidence
    return RankedCriterion(
        criterion=standing.criterion,
        weight=standing.weight,
        deprecated=standing.deprecated,
        little_evidence=standing.has_little_evidence,
        helpful_count=evidence.helpful,
        neutral_count=evidence.neutral,
        harmful_count=evidence.harmful,
        evidence=evidence.decayed_total,
        last_validated=evidence.last_validated,
    )


def is_recommended(standing: Standing) -> bool:
    """Return whether a pattern may be recommended: neither deprecated nor a warning."""
    return not standing.is_inverted and standing.state is not Maturity.DEPRECATED


def is_held_back(standing: Standing) -> bool:
    """Return whether a pattern needs a comparison with such tasks to be recommended."""
    return standing.decision is None and not is_recommended(standing)


def _content(standing: Standing, name_of: NameOf, language: Language, texts: TextRules) -> str:
    name = name_of(standing.facts.slug, standing.facts.content, language)
    if not standing.is_inverted:
        return name
    return warning(_wording(standing, name_of, language), language, rules=texts)


def _line(standing: Standing, name_of: NameOf, language: Language, texts: TextRules) -> str:
    wording = _wording(standing, name_of, language)
    if standing.is_inverted:
        return anti_pattern_line(wording, language, rules=texts)
    return pattern_line(wording, language)


def _record_lines(standing: Standing, name_of: NameOf, texts: TextRules) -> dict[str, str]:
    if not standing.is_inverted:
        return {}
    return {
        language: f"- {failures(_wording(standing, name_of, language), language, rules=texts)}"
        for language in LANGUAGES
    }


def _wording(standing: Standing, name_of: NameOf, language: Language) -> PatternWording:
    facts = standing.facts
    return PatternWording(
        name_of(facts.slug, facts.content, language),
        standing.state,
        standing.evidence,
        standing.decision,
        # A known strategy has a name of ours.
        is_known=bool(name_of(facts.slug, "", "en")),
        needs_more=standing.is_little,
    )
