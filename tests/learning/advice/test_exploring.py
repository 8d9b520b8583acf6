"""Exploring: the same for a task, another draw for another task; what is little known is tried."""

from collections import Counter
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as some

from trackrecord.learning.advice.assignment import assign
from trackrecord.learning.advice.exploring import (
    MOST_DRAWN,
    SHARPNESS,
    Prospect,
    drawn_rates,
    order,
    promising,
    tried,
)
from trackrecord.learning.advice.rules import EXPLORE

counts = some.floats(1.0, 1e6)
prospects = some.dictionaries(some.text(max_size=5), some.tuples(counts, counts), max_size=8).map(
    lambda found: [Prospect(name, a, b) for name, (a, b) in found.items()]
)


def assigned(number, *, project="p", holdout=0.0, explore="some", revision=1, task=None):
    task_id = None if number is None else f"task-{number}"
    return assign(
        project, task_id=task_id, task=task, revision=revision, holdout=holdout, explore=explore
    )


@given(prospects, some.integers(0, 2**64), some.randoms(use_true_random=False))
def test_a_draw_depends_on_the_set_and_the_seed(found, seed, chance):
    """Not on the order of entries: a retry in another process gets the same."""
    shuffled = list(found)
    chance.shuffle(shuffled)
    rates = drawn_rates(found, seed)
    assert drawn_rates(shuffled, seed) == rates
    assert all(0.0 <= rate <= 1.0 for rate in rates.values())
    assert sorted(order(shuffled, seed)) == sorted(each.id for each in found)
    assert order(shuffled, seed) == order(found, seed)
    assert tried(found, rates) <= {each.id for each in found if each.is_little_known}


def test_what_may_be_the_best_is_tried_and_what_cannot_be_is_not():
    """As often as it may be: an unknown one often, one that surely is worse never."""
    known, unknown = Prospect("known", 700, 300), Prospect("unknown", 1, 1)
    worse = Prospect("worse", 300, 700)
    first = Counter(order([known, unknown, worse], seed)[0] for seed in range(1000))
    assert first["unknown"] == pytest.approx(300, abs=60)
    assert first["worse"] == 0


def test_some_draws_nearer_to_what_is_known_than_full():
    """For every task: as if four times as much were known."""
    entries = [Prospect("known", 70, 30), Prospect("unknown", 1.5, 1.5)]
    first = {
        explore: Counter(
            order(entries, found.seed, found.sharpness)[0]
            for found in (assigned(number, explore=explore) for number in range(2000))
        )["unknown"]
        for explore in SHARPNESS
    }
    # The shares of Beta(6, 6) and of Beta(1.5, 1.5) above 0.7.
    assert first["some"] / 2000 == pytest.approx(0.078, abs=0.025)
    assert first["full"] / 2000 == pytest.approx(0.252, abs=0.05)


def test_little_is_known_below_ten_outcomes_of_its_own():
    """The prior's three runs are none of them."""
    assert Prospect("nine", 1.5 + 9, 1.5).is_little_known
    assert not Prospect("ten", 1.5 + 10, 1.5).is_little_known


def test_of_many_those_are_drawn_that_may_be_the_best():
    """So that a draw takes a bounded time."""
    poor = [Prospect(f"poor-{number}", 1, 500) for number in range(1000)]
    found = promising([*poor, Prospect("unknown", 1, 1)])
    assert len(found) == MOST_DRAWN
    assert "unknown" in {each.id for each in found}


def test_a_task_is_assigned_once_and_for_all():
    """The arm does not depend on the rankings; the draw does, and each task has its own."""
    for number in range(50):
        first, again = assigned(number, holdout=0.5), assigned(number, holdout=0.5)
        later = assigned(number, holdout=0.5, revision=2)
        assert first == again
        assert (first.arm, first.is_explored) == (later.arm, later.is_explored)
    seeds = [assigned(number, explore="full").seed for number in range(50)]
    assert len(set(seeds)) == 50
    assert assigned(1, explore="full").seed != assigned(1, explore="full", revision=2).seed


def test_a_larger_holdout_holds_the_smaller_one():
    """A task does not change sides twice when the share grows."""
    small = {number for number in range(500) if assigned(number, holdout=0.1).is_withheld}
    large = {number for number in range(500) if assigned(number, holdout=0.3).is_withheld}
    assert small < large


def test_a_task_id_in_two_projects_is_two_tasks():
    """Also where the texts run together to the same."""
    arms = [
        [assigned(number, project=name, holdout=0.5).arm for number in range(100)]
        for name in ("p", "q")
    ]
    assert arms[0] != arms[1]
    one = assign("ab", task_id="c", task=None, revision=0, holdout=0, explore="full")
    other = assign("a", task_id="bc", task=None, revision=0, holdout=0, explore="full")
    assert one.seed != other.seed


def test_propensities_are_those_of_what_happened():
    """The arm's: whether an order is drawn is not left to chance."""
    for explore in EXPLORE:
        assert assigned(1, explore=explore).propensity == 1.0
        for number in range(20):
            found = assigned(number, holdout=0.1, explore=explore)
            assert found.propensity == pytest.approx(0.1 if found.is_withheld else 0.9)


def test_without_a_task_nothing_is_drawn():
    """A text stands for a missing id when orders are drawn, and is never withheld anything."""
    assert assigned(None, holdout=0.9, explore="full").arm is None
    assert not assigned(None, explore="full").is_explored
    by_text = assigned(None, holdout=0.9, explore="full", task="fix the build")
    assert (by_text.arm, by_text.is_explored) == (None, True)


def test_what_is_told_is_worth_points_of_success():
    """Where the best way changes, a table gains 6; `make bench-learning` has the other worlds."""
    from benchmarks.worlds.worth import POLICIES, WORLDS, play

    told, nothing = (
        [success for _, success in play(WORLDS[2], POLICIES[policy], 0)]
        for policy in ("rankings, exploring", "nothing")
    )
    assert 100 * (fmean(told) - fmean(nothing)) > 15.0


def test_exploring_loses_less_and_finds_a_new_best():
    """In worlds of strategies whose rates change: against the order that never tries anything.

    Where one strategy is better than six bad ones, too, which a draw on one task in five lost too
    much for (0.29). `make bench-learning` has more worlds, and how far they differ.
    """
    from benchmarks.worlds.bandit import POLICIES, WORLDS, World, play

    demo = World("demo", WORLDS[0].rates, per_half_life=300)
    played = {name: [play(demo, POLICIES[name], s) for s in range(2)] for name in ("off", "some")}
    mean = {name: sum(each.regret for each in found) / 2 for name, found in played.items()}
    assert mean["some"] < 0.7 * mean["off"]
    assert sum(each.recovered is not None for each in played["some"]) >= 1
    assert fmean(play(WORLDS[2], POLICIES["some"], seed).regret for seed in (100,)) < 0.24
