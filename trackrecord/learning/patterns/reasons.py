"""The reason for a pattern's standing, in one line of English or Chinese; see also `explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..numbers.percent import percent
from ..text.inert import one_line
from ..text.language import Language
from .texts import STATES_ZH

if TYPE_CHECKING:
    # Agents that ask for Chinese do without.
    from .decisions import Decision
    from .evidence import Evidence
    from .maturity import Maturity
    from .standing import Standing


def reason_of(standing: Standing, language: Language = "en") -> str:
    """Return why a pattern is warned of, or why it is in its state.

    Args:
        standing: where the pattern stands.
        language: of the line; what a person gave as the reason stays as it was written.
    """
    evidence, decision = standing.evidence, standing.decision
    if decision is None:
        return counted_reason(evidence, language, inverted=standing.is_inverted)
    decided = _of_decision(decision, standing.state, language)
    if not standing.is_inverted:
        return decided
    share = counted_reason(evidence, language, inverted=True)
    return f"{share};{decided}" if language == "zh" else f"{share}; {decided}"


def counted_reason(evidence: Evidence, language: Language, *, inverted: bool) -> str:
    """Return the reason that follows from the counts alone.

    Args:
        evidence: the counts.
        language: of the line.
        inverted: whether the pattern is turned into a warning.
    """
    return _of_inversion(evidence, language) if inverted else _of_state(evidence, language)


def _of_inversion(evidence: Evidence, language: Language) -> str:
    failed, total = evidence.failed, evidence.observations
    share = percent(failed, total)
    if language == "zh":
        return f"{total}个中{failed}个失败({share}%)"
    return f"{failed} of {total} failed ({share}%)"


def _of_decision(decision: Decision, state: Maturity, language: Language) -> str:
    actor, why = one_line(decision.actor), one_line(decision.reason)
    if language == "zh":
        return f"由{actor}人工设为{STATES_ZH[state]}" + (f":{why}" if why else "")
    return f"{state} by hand, by {actor}" + (f": {why}" if why else "")


def _of_state(evidence: Evidence, language: Language) -> str:
    helpful, harmful = evidence.decayed_helpful, evidence.decayed_harmful
    if language == "zh":
        return f"衰减后{helpful:.2f}个有益,{harmful:.2f}个有害"
    return f"{helpful:.2f} helpful, {harmful:.2f} harmful after decay"
