"""How patterns are presented: an anti-pattern is the same pattern, turned into a warning."""

import msgspec

from trackrecord.learning.patterns.decisions import Decision, DecisionAction
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.learning.patterns.standing import PatternFacts, standing_of
from trackrecord.learning.patterns.texts import TextRules, reason_of
from trackrecord.prompt.documents.presentation import present_pattern


def presented(share: float, **texts: int):
    facts = PatternFacts("plan", "named", "Plan", 1.0)
    rules = AntiPatternRules(failure_share=share)
    standing = standing_of(MaturityRules(), rules, facts, Evidence(2, 0, 5, 2.0, 5.0, succeeded=2))
    return present_pattern(standing, lambda _slug, content, _language: content, TextRules(**texts))


def test_an_anti_pattern_has_the_same_counts_and_tags():
    """Another id, kind and content, `is_negative`; the rest is what the pattern has."""
    plain, warning = presented(0.9), presented(0.6)
    assert (plain.id, plain.is_negative, plain.content) == ("plan", False, "Plan")
    assert (warning.id, warning.is_negative) == ("anti-plan", True)
    assert warning.content == (
        'AVOID: an agent\'s strategy "Plan". Failed 5/7 times (71% failure rate)'
    )
    assert (plain.kind, warning.kind) == ("named", "anti_pattern")
    assert warning.reason == "5 of 7 failed (71%)"
    own = {"id", "kind", "is_negative", "content", "score", "reason", "lines", "translations"}
    own.add("record_lines")
    same = msgspec.structs.asdict(plain).keys() - own
    assert {"tags", "success_count", "failure_count", "state"} <= same
    for name in same:
        assert getattr(warning, name) == getattr(plain, name)


def test_the_reason_of_a_warning_that_a_person_decided_about_says_both():
    """The share that inverted it, and who decided what."""
    decision = Decision(DecisionAction.DEPRECATE, "ada", "it\nfailed elsewhere", 1.0)
    evidence = Evidence(2, 0, 5, 2.0, 5.0, succeeded=2)
    facts = PatternFacts("plan", "named", "Plan", 1.0)
    standing = standing_of(MaturityRules(), AntiPatternRules(), facts, evidence, decision)
    assert reason_of(standing) == (
        "5 of 7 failed (71%); deprecated by hand, by ada: it failed elsewhere"
    )
    assert reason_of(standing, "zh") == "7个中5个失败(71%);由ada人工设为已弃用:it failed elsewhere"
