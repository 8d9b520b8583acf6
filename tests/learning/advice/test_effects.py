"""Effects: the difference that something makes at equal tasks, with an interval that holds."""

import random
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.estimates.effects import (
    NO_EFFECT,
    EffectRun,
    effects_of,
    surely_better,
)

TRIALS = st.lists(
    st.builds(
        EffectRun,
        st.sampled_from(["easy", "hard", "odd"]),
        st.sets(st.sampled_from("abc"), max_size=3).map(lambda each: tuple(sorted(each))),
        st.sampled_from([1.0, 0.5, 1e-300]),
        st.booleans(),
    ),
    max_size=40,
)


def trials(stratum, label, successes, runs):
    """Fresh runs of one label in one stratum."""
    return [EffectRun(stratum, (label,), 1.0, number < successes) for number in range(runs)]


def test_two_labels_in_one_stratum_differ_by_their_rates():
    """Mantel and Haenszel's difference, but for the ridge of one run."""
    found = effects_of([*trials("x", "a", 80, 100), *trials("x", "b", 40, 100)])
    assert found["a"].difference == pytest.approx(0.4, abs=0.02)
    assert found["b"].difference == pytest.approx(-0.4, abs=0.02)
    assert found["a"].low < 0.4 < found["a"].high
    assert (found["a"].strata, found["a"].weight) == (1, 50.0)


def test_hard_tasks_are_not_held_against_who_takes_them():
    """By the rates alone, a has 34% and b 66%; at equal tasks a is 20 points better."""
    found = effects_of(
        [
            *trials("hard", "a", 27, 90), *trials("hard", "b", 1, 10),
            *trials("easy", "a", 9, 10), *trials("easy", "b", 63, 90),
        ]
    )  # fmt: skip
    assert found["a"].difference == pytest.approx(0.2, abs=0.04)
    assert found["a"].low > 0.0 > found["b"].high


@pytest.mark.parametrize("together", [("a", "b"), ("b", "a", "z")])
def test_what_always_comes_together_has_the_whole_effect_each(together):
    """Labels that cannot be told apart get equal numbers, and those that one alone would get."""
    rest = [*trials("x", "good", 28, 28)]
    alone = effects_of([*trials("x", "a", 8, 28), *rest])["a"]
    labels = tuple(sorted(together))
    found = effects_of([*(each._replace(labels=labels) for each in trials("x", "a", 8, 28)), *rest])
    assert {found[label] for label in together} == {alone}
    assert alone.high < -0.4


def test_without_anything_to_compare_there_is_no_effect():
    """One label alone in its stratum, or none."""
    assert effects_of(trials("x", "a", 9, 9)) == {"a": NO_EFFECT}
    assert effects_of([]) == {}


@given(TRIALS, st.randoms(use_true_random=False))
def test_neither_order_nor_age_breaks_an_effect(found, chance):
    """The same effects in any order, each within its interval."""
    shuffled = list(found)
    chance.shuffle(shuffled)
    effects = effects_of(found)
    again = effects_of(shuffled)
    assert effects.keys() == again.keys()
    for name, effect in effects.items():
        assert -1.0 <= effect.low <= effect.difference <= effect.high <= 1.0
        assert again[name].difference == pytest.approx(effect.difference, abs=1e-9)
        assert isfinite(effect.weight)


def test_an_interval_covers_the_truth_as_often_as_it_says():
    """Strategies whose effects are known, taken unevenly by easy and hard tasks."""
    hits = []
    for seed in range(60):
        chance = random.Random(seed)
        truth = [chance.gauss(0.0, 0.1) for _ in range(6)]
        easy = {f"k{each}": chance.uniform(0.3, 0.7) for each in range(5)}
        taken = {kind: [chance.random() + 0.1 for _ in truth] for kind in easy}
        runs = []
        for _ in range(300):
            kind = chance.choice(sorted(easy))
            (label,) = chance.choices(range(6), taken[kind])
            success = chance.random() < easy[kind] + truth[label]
            runs.append(EffectRun(kind, (str(label),), 1.0, success))
        for label, effect in effects_of(runs).items():
            others = [truth[int(run.labels[0])] for run in runs if run.labels != (label,)]
            difference = truth[int(label)] - sum(others) / len(others)
            hits.append(effect.low <= difference <= effect.high)
    assert 0.84 < sum(hits) / len(hits) < 0.96


def of_tasks(tasks, runs_of_task):
    """Fresh runs of a good and of a bad label, by task."""
    return effects_of(
        EffectRun("kind", (label,), 1.0, label == "good", f"t{number % tasks}")
        for number in range(tasks * runs_of_task)
        for label in ("good", "bad")
    )


def test_few_runs_or_tasks_are_not_tested():
    """As much as ten runs with and ten without, of five tasks, are the least."""
    assert surely_better([("all", of_tasks(5, 2))]) == {("all", "good")}
    assert surely_better([("all", of_tasks(4, 9))]) == set()
    assert surely_better([("all", of_tasks(9, 1))]) == set()
