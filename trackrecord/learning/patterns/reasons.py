"""Why a pattern stands where it stands, in one line of English or Chinese; `explain` says more."""

from ..numbers.percent import percent
from ..text.inert import one_line
from ..text.language import Language
from .decisions import Decision
from .maturity import Maturity
from .standing import Standing
from .texts import STATES_ZH, slow_successes


def reason_of(standing: Standing, language: Language = "en") -> str:
    """Return why a pattern is warned of, or why it is in its state.

    Args:
        standing: where the pattern stands.
        language: of the line; what a person gave as the reason stays as it was written.
    """
    parts = [_of_inversion(standing, language)] if standing.is_inverted else []
    if standing.decision is not None:
        parts.append(_of_decision(standing.decision, standing.state, language))
    return (";" if language == "zh" else "; ").join(parts) or _of_evidence(standing, language)


def _of_inversion(standing: Standing, language: Language) -> str:
    evidence = standing.evidence
    failed, total = evidence.failed, evidence.observations
    share = f"({percent(failed, total)}%)"
    said = (
        f"{total}个中{failed}个失败{share}"
        if language == "zh"
        else (f"{failed} of {total} failed {share}")
    )
    if standing.is_failing:
        return said
    slowly = slow_successes(evidence)
    return said + (
        f",{slowly}个成功但缓慢或有错误"
        if language == "zh"
        else f", {slowly} succeeded only slowly, with errors or with retries"
    )


def _of_decision(decision: Decision, state: Maturity, language: Language) -> str:
    actor, why = one_line(decision.actor), one_line(decision.reason)
    if language == "zh":
        return f"由{actor}人工设为{STATES_ZH[state]}" + (f":{why}" if why else "")
    return f"{state} by hand, by {actor}" + (f": {why}" if why else "")


def _of_evidence(standing: Standing, language: Language) -> str:
    helpful, harmful = standing.evidence.decayed_helpful, standing.evidence.decayed_harmful
    if language == "zh":
        return f"衰减后{helpful:.2f}个有益,{harmful:.2f}个有害"
    return f"{helpful:.2f} helpful, {harmful:.2f} harmful after decay"
