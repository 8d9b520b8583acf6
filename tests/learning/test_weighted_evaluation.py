"""The weighted evaluation: how far a criterion can be relied on decides how much it counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.errors import InvalidScores
from trackrecord.learning.criteria.evaluation import (
    MAX_SCORES,
    NO_FEEDBACK,
    Weight,
    checked_scores,
    weight_of,
    weighted_evaluation,
)
from trackrecord.learning.criteria.weights import (
    CriteriaRules,
    CriterionEvidence,
    criterion_standing,
)

OTHERWISE = Weight(1.0, NO_FEEDBACK)
_scores = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), min_size=1)
_weights = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1).map(Weight))


def test_a_score_counts_as_much_as_its_criterion():
    """(1·0.75 + 0·0.25) ÷ 1, and the mean without weights beside it."""
    found = weighted_evaluation(
        {"a": 1.0, "b": 0.0}, {"a": Weight(0.75), "b": Weight(0.25)}, otherwise=OTHERWISE
    )
    assert (found.score, found.plain_score, found.total_weight) == (0.75, 0.5, 1.0)
    assert [(part.criterion, part.share) for part in found.parts] == [("a", 0.75), ("b", 0.25)]
    assert found.note == ""


def test_a_deprecated_criterion_has_no_say():
    """However low its score is, and its part says why."""
    evidence = CriterionEvidence(helpful=2, harmful=3, decayed_helpful=2.0, decayed_harmful=3.0)
    noisy = weight_of(criterion_standing(CriteriaRules(), "noisy", evidence))
    found = weighted_evaluation({"noisy": 0.0, "a": 0.8}, {"noisy": noisy}, otherwise=OTHERWISE)
    assert found.score == 0.8
    assert (found.parts[0].weight, found.parts[0].share, found.parts[0].note) == (
        0.0, 0.0, "deprecated",
    )  # fmt: skip


def test_an_unknown_criterion_weighs_as_one_without_evidence_and_says_so():
    """Its part says that nothing is on record."""
    found = weighted_evaluation({"new": 0.5, "a": 1.0}, {"a": Weight(0.5)}, otherwise=OTHERWISE)
    assert (found.parts[0].weight, found.parts[0].note) == (1.0, NO_FEEDBACK)
    assert found.score == pytest.approx((0.5 * 1.0 + 1.0 * 0.5) / 1.5)


def test_without_any_weight_there_is_no_score():
    """Nothing is divided by nothing; the plain mean stands beside the reason."""
    found = weighted_evaluation({"a": 1.0, "b": 0.0}, {"a": Weight(0), "b": Weight(0)},
                                otherwise=OTHERWISE)  # fmt: skip
    assert (found.score, found.plain_score, found.total_weight) == (None, 0.5, 0.0)
    assert [part.share for part in found.parts] == [None, None]
    assert "no criterion has a say" in found.note
    assert weighted_evaluation({}, {}, otherwise=OTHERWISE).note == "no criterion was given"


@given(_scores, _weights, st.randoms())
def test_the_score_lies_among_those_with_a_say_in_any_order(scores, weights, chance):
    """Equal scores give that score; the order of the criteria does not matter."""
    found = weighted_evaluation(scores, weights, otherwise=OTHERWISE)
    told = [part.score for part in found.parts if part.share]
    if found.score is None:
        assert not any(part.weight for part in found.parts)
        return
    assert min(told) <= found.score <= max(told)
    assert sum(part.share for part in found.parts) == pytest.approx(1.0)
    names = list(scores)
    chance.shuffle(names)
    again = weighted_evaluation({name: scores[name] for name in names}, weights,
                                otherwise=OTHERWISE)  # fmt: skip
    assert again.score == pytest.approx(found.score, abs=1e-12)


@given(_scores, _weights)
def test_the_score_of_a_deprecated_criterion_changes_nothing(scores, weights):
    """Whatever the others are."""
    weights["x"] = Weight(0.0, "deprecated")
    low, high = (
        weighted_evaluation({**scores, "x": score}, weights, otherwise=OTHERWISE).score
        for score in (0.0, 1.0)
    )
    assert low == high


@pytest.mark.parametrize(
    ("given_scores", "named"),
    [
        ([("a", 1)], "an object"), (None, "an object"), ({"a": 1.5}, "'a'"),
        ({"a": float("nan")}, "'a'"), ({"a": 10**400}, "'a'"), ({"a": "0.5"}, "'a'"),
        ({"": 1}, "1 to 128"), ({"x" * 129: 1}, "1 to 128"), ({"a\0": 1}, "1 to 128"),
        ({5: 1}, "1 to 128"), ({"a": 1, " a": 0}, "twice"),
        ({str(n): 1 for n in range(MAX_SCORES + 1)}, "more than 100"),
    ],
)  # fmt: skip
def test_what_is_no_score_is_refused_in_one_line(given_scores, named):
    """And the line names the criterion."""
    with pytest.raises(InvalidScores, match=named) as refused:
        checked_scores(given_scores)
    assert len(str(refused.value).splitlines()) == 1
    assert len(str(refused.value)) < 300


def test_passed_and_failed_are_scores_too():
    """True counts as 1, False as 0; spaces around a name do not count."""
    assert checked_scores({"a": True, " b ": False, "c": 1}) == {"a": 1.0, "b": 0.0, "c": 1.0}
