"""Explaining: the three questions that people ask, with numbers, the rule and the distance."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import grows_by_at_most
from trackrecord.learning.criteria.weights import (
    CriteriaRules,
    CriterionEvidence,
    criterion_standing,
)
from trackrecord.learning.explanation import explain_criterion, explain_pattern, smallest_count
from trackrecord.learning.patterns.decisions import Decision, DecisionAction
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.learning.patterns.standing import PatternFacts, standing_of
from trackrecord.prompt.documents.presentation import present_pattern

MATURITY, ANTI, CRITERIA = MaturityRules(), AntiPatternRules(), CriteriaRules()


def explained(helpful, harmful, decision=None, goes_worse=None):
    evidence = Evidence(helpful, 0, harmful, float(helpful), float(harmful), succeeded=helpful)
    facts = PatternFacts("plan", "named", "Plan", 0.0)
    standing = standing_of(MATURITY, ANTI, facts, evidence, decision, goes_worse)
    return explain_pattern(MATURITY, ANTI, standing)


def test_why_is_it_not_proven():
    """4 of 5 helpful reports, and one more would do."""
    found = explained(4, 0)
    assert found.because[0] == (
        "established: 4.00 helpful and 0.00 harmful after decay (0% harmful); "
        "proven needs 5 helpful and below 15% harmful"
    )
    assert "1 more successful outcome now would make it proven" in found.to_change
    assert "2 more failed outcomes now would make it deprecated" in found.to_change


@pytest.mark.parametrize(
    ("counts", "because", "ways"),
    [
        (
            (1, 0),
            "candidate: 1.00 reports after decay, fewer than 3",
            (2, "established", 4),
        ),
        (
            (0, 3),
            "deprecated: 0.00 helpful and 3.00 harmful after decay (100% harmful), above 30%",
            (7, "established", 18),
        ),
        (
            (5, 1),
            "established: 5.00 helpful and 1.00 harmful after decay (17% harmful)",
            (1, "proven", 1),
        ),
    ],
)
def test_from_any_state_it_is_said_what_proven_needs(counts, because, ways):
    """The next state, and how far it is from there to the best one."""
    found = explained(*counts)
    assert found.because[0] == f"{because}; proven needs 5 helpful and below 15% harmful"
    more, state, to_proven = ways
    helpful = [line for line in found.to_change if " successful " in line and "make it" in line]
    assert helpful[0].startswith(f"{more} more successful")
    assert helpful[0].endswith(f"would make it {state}")
    assert helpful[-1].startswith(f"{to_proven} more successful")
    assert helpful[-1].endswith("would make it proven")
    assert len(set(helpful)) == len(helpful)


def test_why_was_it_inverted():
    """5 of 7 failed, undecayed; and what would lift it."""
    found = explained(2, 5)
    assert found.because[-1] == (
        "anti-pattern: 5 of 7 runs failed, undecayed, which reaches 60% of at least 3"
    )
    assert "2 more successful outcomes now would lift the anti-pattern" in found.to_change


@pytest.mark.parametrize(
    ("counts", "goes_worse", "because"),
    [
        ((9, 12), False, "candidate: such tasks are not known to go worse with it than otherwise"),
        ((9, 0), True, "candidate: such tasks almost certainly go worse with it than otherwise"),
    ],
)
def test_what_a_comparison_decided_is_said(counts, goes_worse, because):
    """After what the counts alone would make of it; more outcomes change it by comparison only."""
    found = explained(*counts, goes_worse=goes_worse)
    assert found.because[0].startswith("by its counts alone ")
    assert found.because[1].startswith(because)
    assert not any("would make it candidate" in line for line in found.to_change)


def test_why_is_the_weight_low():
    """The sums, the floor, and what would end the deprecation."""
    evidence = CriterionEvidence(1, 0, 20, 1.0, 20.0, 0.0)
    found = explain_criterion(CRITERIA, criterion_standing(CRITERIA, "kind", evidence))
    assert found.because == (
        (
            "weight 0.1000: 1.00 helpful of 21.00 after decay is 0.0476, raised to the floor of "
            "0.1; it counts 0 because it is deprecated"
        ),
        "deprecated: 20 of 21 harmful, undecayed (95%), more than 30% of at least 3",
        "evidence: 21.00 after decay, which fades although the weight does not",
    )
    assert found.to_change == (
        "46 more helpful reports now would end its deprecation, at weight 0.7015",
    )


def test_a_decision_by_hand_is_said_first():
    """With who and why, what the evidence says, and that only a reset changes it."""
    decision = Decision(DecisionAction.DEPRECATE, "ada\n# x", "it `broke`\nall", 0.0)
    found = explained(9, 0, decision=decision)
    assert found.because[0] == (
        "deprecated by hand: deprecated by ada # x at 1970-01-01T00:00:00Z: it `broke` all"
    )
    assert found.because[1].startswith("by its evidence it would be proven: 9.00 helpful")
    assert found.to_change[0] == "a reset would make it proven; no outcome does, until then"
    assert not any("would make it deprecated" in line for line in found.to_change)


def test_what_a_person_promoted_is_not_warned_of():
    """Never proven and an anti-pattern at once; the counts say what they would make of it."""
    decision = Decision(DecisionAction.PROMOTE, "ada", "", 0.0)
    found = explained(5, 15, decision=decision)
    assert found.because[0].startswith("proven by hand: promoted by ada")
    assert found.because[-1].startswith("not an anti-pattern: 15 of 20 runs failed")
    assert found.because[-1].endswith("but a person vouches for it")
    assert not any("anti-pattern" in line for line in found.to_change)


def test_distances_of_any_size_are_found_at_once():
    """A pattern with a million reports is explained as fast as one with a thousand."""
    assert grows_by_at_most(2, lambda count: explained(count, 0), short=1000, long=1_000_000)
    found = explained(1_000_000, 0)
    assert "176471 more failed outcomes now would make it established" in found.to_change
    assert "1500000 more failed outcomes now would make it an anti-pattern" in found.to_change


@pytest.mark.parametrize("wanted", [1, 2, 999, 1000, 1001, 1999, 2000, 2001, 123_456_789])
def test_the_smallest_count(wanted):
    """Exactly, and none where there is none."""
    assert smallest_count(lambda count: count >= wanted) == wanted
    assert smallest_count(lambda _count: False) is None


@given(helpful=st.integers(0, 20), harmful=st.integers(0, 20))
def test_the_score_explained_is_the_score_shown(helpful, harmful):
    """A warning is shown with the score that warnings are ranked by, and that one is explained."""
    evidence = Evidence(helpful, 0, harmful, float(helpful), float(harmful), succeeded=helpful)
    standing = standing_of(MATURITY, ANTI, PatternFacts("plan", "named", "Plan", 0.0), evidence)
    shown = present_pattern(standing, lambda _slug, content, _language: content)
    said = re.match(r"score ([\d.]+)", explain_pattern(MATURITY, ANTI, standing).because[1])
    assert float(said[1]) == pytest.approx(shown.score, abs=0.0005)
