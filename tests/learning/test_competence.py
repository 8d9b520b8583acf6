"""Competence: salience, selection, and how tasks are compared with records."""

from dataclasses import replace

import pytest

from trackrecord.learning.competences.rules import (
    CompetenceRules,
    Lifecycle,
    reinforced,
    salience_now,
)
from trackrecord.learning.competences.selection import (
    choose,
    recency,
    selection_score,
    success_rate,
)
from trackrecord.learning.numbers.decay import DAY
from trackrecord.learning.text.words import similarity, words_of

RULES = CompetenceRules()
NOW = 1_800_000_000.0
LIFE = Lifecycle(30, 0.1, 0.0, last_reinforced_at=NOW)


def score(confidence: float, successes: int, episodes: int, days: float) -> float:
    return selection_score(
        applicability=confidence,
        success=success_rate(successes, episodes - successes),
        recency=recency(NOW - days * DAY, RULES.half_life_days, NOW),
    )


def test_salience_halves_every_half_life():
    """It is computed when read, and no lower than its minimum."""
    assert salience_now(1.0, LIFE, NOW) == 1.0
    assert salience_now(1.0, LIFE, NOW + 30 * DAY) == pytest.approx(0.5)
    assert salience_now(0.6, LIFE, NOW + 60 * DAY) == pytest.approx(0.15)
    assert salience_now(1.0, replace(LIFE, min_salience=0.2), NOW + 999 * DAY) == 0.2


def test_what_does_not_decay():
    """Pinned records, those never reinforced, and the future."""
    assert salience_now(0.7, replace(LIFE, pinned=True), NOW + 99 * DAY) == 0.7
    assert salience_now(0.7, replace(LIFE, last_reinforced_at=None), NOW) == 0.7
    assert salience_now(0.7, LIFE, NOW - DAY) == 0.7


def test_reinforcement_starts_from_the_stored_salience():
    """By the gain, at most 1."""
    assert reinforced(0.5, LIFE) == pytest.approx(0.6)
    assert reinforced(0.95, LIFE) == 1.0


def test_one_old_candidate():
    """The same after 60 days."""
    choice = choose(RULES, {"a": score(0.8, 2, 2, 60)})
    assert choice.confidence == pytest.approx(0.6833, abs=1e-4)
    assert choice.needs_more


def test_two_candidates():
    """The best must stand out."""
    choice = choose(RULES, {"b": score(0.6, 1, 2, 30), "a": score(0.9, 9, 10, 0)})
    assert [name for name, _ in choice.ranked] == ["a", "b"]
    assert [value for _, value in choice.ranked] == pytest.approx([0.9333, 0.5333], abs=1e-4)
    assert choice.confidence == pytest.approx(0.4286, abs=1e-4)
    assert choice.needs_more


def test_ties_fall_by_id():
    """And nothing stands out."""
    choice = choose(RULES, {"b": 0.5, "a": 0.5})
    assert choice.ranked == (("a", 0.5), ("b", 0.5))
    assert choice.confidence == 0
    assert choose(RULES, {"a": 0.0}).confidence == 0


def test_without_data():
    """A success rate, and a recency, of one half."""
    assert success_rate(0, 0) == 0.5
    assert recency(None, 30, NOW) == 0.5
    assert recency(NOW + DAY, 30, NOW) == 1.0


def test_words():
    """Names are taken apart; Chinese runs become bigrams."""
    assert words_of("goBuild run_tests HTTPServer") == {
        "go",
        "build",
        "run",
        "tests",
        "http",
        "server",
    }
    assert words_of("运行测试") == {"运行", "行测", "测试"}
    assert words_of("修 x") == {"修", "x"}


def test_similarity():
    """1 for the same words, 0 for none in common, None without words."""
    assert similarity("Fix the build", ["fix_the_build", "other"]) == 1.0
    assert similarity("fix build", ["lint"]) == 0.0
    assert 0 < (similarity("修复构建错误", ["构建错误"]) or 0) < 1
    assert similarity("…", ["lint"]) is None
    assert similarity("lint", ["+"]) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_successes": 0},
        {"half_life_days": 0},
        {"confidence": 1.1},
        {"min_salience": 0.9, "salience": 0.5},
    ],
)
def test_numbers_are_checked(wrong):
    """When the rules are built."""
    with pytest.raises(ValueError, match="must"):
        CompetenceRules(**wrong)
