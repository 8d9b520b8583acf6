"""The texts about patterns in a prompt, in English and in Chinese.

The name of a known strategy stands as it is; what an agent wrote stands in quotation marks, as an
agent's. A line stands for one pattern, so that a caller with a budget can choose lines and add the
headings of the sections that remain.

The numbers of a line are tasks: how many there were, and how many of them succeeded or failed, by
what the outcomes say of their success. The state follows from them, weighed by age and source.
A reason is one line on a pattern's standing; `explain` tells more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ..numbers.checks import require
from ..numbers.percent import percent
from ..text.inert import DEFAULT_LIMIT, one_line, quoted
from ..text.language import Language
from .decisions import Decision
from .evidence import Evidence
from .maturity import Maturity

if TYPE_CHECKING:
    # Agents that ask for Chinese do without.
    from .standing import Standing

# What begins a warning in any content, whatever the settings say.
_WARNING_PREFIX: Final = r"(?:avoid|do not|never|避免)\s*[:：]"
_LONGEST_PREFIX: Final = 40
_PERIODS = " .。．｡"
STATES_ZH: Final = {
    Maturity.PROVEN: "已验证",
    Maturity.ESTABLISHED: "已确立",
    Maturity.CANDIDATE: "候选",
    Maturity.DEPRECATED: "已弃用",
}
# Patterns with fewer reports are marked as limited data in every state.
_LIMITED_BELOW: Final = 3
# Plain and weighed failures of a deprecated pattern differ by so many points before both are told.
_PLAINLY: Final = 10
# What a person wrote stands within brackets of ours, and must not close them.
_BRACKETS: Final = str.maketrans("[]［］【】〔〕", "()()()()")


@dataclass(frozen=True)
class TextRules:
    """The rules for the wording of patterns.

    Attributes:
        warning_prefix: beginning of an anti-pattern's content, before the pattern's own.
        warning_prefix_zh: the same in Chinese.
    """

    warning_prefix: str = "AVOID:"
    warning_prefix_zh: str = "避免:"

    def __post_init__(self) -> None:
        for name in ("warning_prefix", "warning_prefix_zh"):
            prefix: str = getattr(self, name)
            require(
                prefix != "" and one_line(prefix, _LONGEST_PREFIX) == prefix,
                f"{name} must be a text of 1 to {_LONGEST_PREFIX} characters on one line, without "
                "spaces around it, that opens no Markdown block",
            )


PLAIN: Final = TextRules()


@dataclass(frozen=True)
class PatternWording:
    """One pattern's content in one language, its state and its evidence.

    Attributes:
        content: what the pattern says, as an agent wrote it.
        state: its maturity, by the rules or by hand.
        is_known: whether the content is the name of a known strategy, and not an agent's words.
        evidence: the sums from which the numbers in the texts come.
        decision: the decision by hand that its state comes from; None where the evidence decides.
        needs_more: whether its evidence is too little for a judgement.
    """

    content: str
    state: Maturity
    evidence: Evidence
    decision: Decision | None = None
    is_known: bool = False
    needs_more: bool = True


def warning(wording: PatternWording, language: Language = "en", *, rules: TextRules = PLAIN) -> str:
    """Return an anti-pattern's content: "AVOID: <content>. Failed 5/7 times (71% failure rate)"."""
    failed = failures(wording, language, rules=rules)
    if language == "zh":
        return f"{rules.warning_prefix_zh}{failed}"
    return f"{rules.warning_prefix} {failed}"


def failures(
    wording: PatternWording, language: Language = "en", *, rules: TextRules = PLAIN
) -> str:
    """Return the counts behind a warning: "<content>. Failed 5/7 times (71% failure rate)"."""
    content = _without_warning(one_line(wording.content, DEFAULT_LIMIT), rules)
    content = _shown(content.rstrip(_PERIODS), language, is_known=wording.is_known)
    evidence = wording.evidence
    failed, total = evidence.failed, evidence.observations
    rate = percent(failed, total)
    if language == "zh":
        return f"{content}。失败{failed}/{total}次({rate}%失败率)"
    return f"{content}. Failed {failed}/{total} times ({rate}% failure rate)"


@lru_cache(maxsize=8)
def _prefixes(english: str, chinese: str) -> re.Pattern[str]:
    own = (re.escape(english), re.escape(chinese))
    return re.compile(rf"\A(?:(?:{'|'.join((*own, _WARNING_PREFIX))})\s*)+", re.IGNORECASE)


def _without_warning(content: str, rules: TextRules) -> str:
    """Return the content without a warning in front, unless nothing else is left."""
    prefix = _prefixes(rules.warning_prefix, rules.warning_prefix_zh)
    while (rest := one_line(prefix.sub("", content), len(content) or 1)) != content:
        if not rest:
            return content
        content = rest
    return content


def anti_pattern_line(
    wording: PatternWording, language: Language = "en", *, rules: TextRules = PLAIN
) -> str:
    """Return the line of one anti-pattern."""
    return f"- {warning(wording, language, rules=rules)}"


def pattern_line(wording: PatternWording, language: Language = "en") -> str:
    """Return the line of one pattern, with its standing in brackets at the end."""
    content = _shown(wording.content, language, is_known=wording.is_known)
    if wording.decision is not None and wording.state is Maturity.DEPRECATED:
        return f"- {content} [{_deprecated_by_hand(wording.decision, language)}]"
    return f"- {content} [{_standing(wording, language)}]"


# The names of the catalogue, and an agent's few, are worded whenever rankings are refreshed.
@lru_cache(maxsize=1024)
def _shown(content: str, language: Language, *, is_known: bool) -> str:
    """Return a pattern's content: the name of a known strategy, or an agent's text, quoted."""
    if is_known:
        return one_line(content, DEFAULT_LIMIT)
    said = quoted(content, DEFAULT_LIMIT, is_chinese=language == "zh")
    return f"智能体的策略{said}" if language == "zh" else f"an agent's strategy {said}"


def _deprecated_by_hand(decision: Decision, language: Language) -> str:
    """Return the reason that was given: the counts had no part in it."""
    reason = one_line(decision.reason, DEFAULT_LIMIT).translate(_BRACKETS).rstrip(_PERIODS)
    if language == "zh":
        return f"已弃用 - {reason or '人工决定'},避免使用"
    return f"DEPRECATED - {reason or 'by hand'}, avoid using"


def counted_line(wording: PatternWording, language: Language = "en") -> str:
    """Return the line of a pattern by its counts alone, for any state."""
    content = _shown(wording.content, language, is_known=wording.is_known)
    return f"- {content} [{_succeeded(wording.evidence, language)}]"


def _succeeded(evidence: Evidence, language: Language) -> str:
    words, total, told = _WORDS[language], evidence.observations, evidence.feedback
    noun = "run" if total == 1 else "runs"
    runs = words["succeeded"].format(evidence.succeeded, total, noun)
    if not told:
        return runs
    verdicts = "verdict" if told == 1 else "verdicts"
    return runs + words["by feedback"].format(evidence.helpful_feedback, told, verdicts)


def _standing(wording: PatternWording, language: Language) -> str:
    words, evidence = _WORDS[language], wording.evidence
    succeeded = _succeeded(evidence, language)
    if evidence.reports < _LIMITED_BELOW:
        return words["limited"].format(succeeded)
    if wording.state is Maturity.DEPRECATED:
        return words[wording.state].format(_failed(evidence, language))
    by_hand = words["by hand"] if wording.decision and wording.state is Maturity.PROVEN else ""
    needs = wording.needs_more and wording.state is Maturity.CANDIDATE
    more = words["needs more"] if needs else ""
    return words[wording.state].format(succeeded, by_hand=by_hand) + more


def _failed(evidence: Evidence, language: Language) -> str:
    if evidence.feedback:
        return _succeeded(evidence, language)
    total = evidence.observations
    noun = "run" if total == 1 else "runs"
    failed = _WORDS[language]["failed"].format(evidence.failed, total, noun)
    weighed, plain = percent(evidence.harmful_share, 1), percent(evidence.failed, total)
    # The share that decided is told where the plain counts do not show it.
    return failed + (
        _WORDS[language]["weighed"].format(weighed) if weighed >= plain + _PLAINLY else ""
    )


_WORDS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "succeeded": "{} of {} {} succeeded",
        "by feedback": ", {} of {} {} by feedback helpful",
        "failed": "{} of {} {} failed",
        "weighed": ", {}% weighed by age and source",
        "limited": "LIMITED DATA - {}",
        "by hand": " by hand",
        "needs more": ", needs more data",
        Maturity.PROVEN: "PROVEN{by_hand} - {}",
        Maturity.ESTABLISHED: "ESTABLISHED - {}",
        Maturity.CANDIDATE: "CANDIDATE - {}",
        Maturity.DEPRECATED: "DEPRECATED - {}, avoid using",
    },
    "zh": {
        "succeeded": "{1}次运行中{0}次成功",
        "by feedback": ",{1}条反馈中{0}条有帮助",
        "failed": "{1}次运行中{0}次失败",
        "weighed": ",按时间和来源加权{}%",
        "limited": "数据有限 - {}",
        "by hand": "人工",
        "needs more": ",需要更多数据",
        Maturity.PROVEN: "{by_hand}已验证 - {}",
        Maturity.ESTABLISHED: "已确立 - {}",
        Maturity.CANDIDATE: "候选 - {}",
        Maturity.DEPRECATED: "已弃用 - {},避免使用",
    },
}


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
