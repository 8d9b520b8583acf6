"""Attempts: who stops at a success blames nothing for coming first, and praises nothing last."""

import random
from statistics import fmean

import pytest
from msgspec import structs

from benchmarks.worlds.retries import WORLDS, make, measured, within_tasks
from tests.learning.advice.histories import HOUR, NOW, lessons, run
from trackrecord.learning.advice.estimates.effects import NO_EFFECT
from trackrecord.learning.advice.estimates.estimates import estimate
from trackrecord.learning.advice.runs.attempts import attempts_of


def task(ends, *, hours=None, minutes=None):
    """Return the runs of one task by how they ended: one an hour by default."""
    moments = hours or range(len(ends))
    return [
        structs.replace(
            run(number, task="t", success=end == "+"),
            ended_at=NOW + hour * HOUR,
            duration_ms=None if minutes is None else minutes * 60_000,
        )
        for number, (end, hour) in enumerate(zip(ends, moments, strict=True))
    ]


def stopping(first=100):
    """Tasks that stop at a success, so that those of a project are not repeated regardless."""
    return [
        structs.replace(run(first + number, task=f"s{number // 2}", success=number % 2 == 1))
        for number in range(20)
    ]


def compared(runs):
    """Return whether each run of the task is compared with other runs of it."""
    found = attempts_of(runs)
    return [found[each.outcome].task is not None for each in runs if each.task_id == "tt"]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_tasks_that_are_tried_again_do_not_bias_an_effect(world):
    """Neither until they succeed nor regardless; the first strategy's effect is what it is."""
    runs = [make(world, seed) for seed in range(8)]
    found = [measured(each) for each in runs]
    assert fmean(each.difference for each in found) == pytest.approx(world.effect, abs=0.03)
    # Of intervals of 90% one in twenty lies below the truth.
    assert sum(each.high < 0.0 for each in found if world.effect >= 0.0) <= 1
    within = fmean(within_tasks(each).difference for each in runs)
    if world.alike:
        assert fmean(each.high - each.low for each in found) < 0.22
    if "until success, A mostly first" in world.name:
        assert within < world.effect - 0.15, "the world has lost what it is there to show"


def test_what_only_comes_last_goes_with_no_success():
    """A retry by another tool ends each of its tasks with a success, and says nothing of it."""
    chance = random.Random(2)
    runs = []
    for number in range(200):
        tool, success = "plain", chance.random() < 0.5
        runs.append(run(len(runs), tool, "stop", task=number, success=success))
        while not success:
            tool, success = chance.choice(["fancy", "fancy", "plain"]), chance.random() < 0.5
            runs.append(run(len(runs), tool, "stop", task=number, success=success))
    assert not [each for each in lessons(runs) if each.kind.value.startswith("goes-with")]


def test_runs_are_compared_within_their_task_where_none_depends_on_another():
    """Where they overlap; from the first success on; and all where a project repeats anyway."""
    assert compared([*task("-+"), *stopping()]) == [False, False]
    assert compared([*task("-+-+"), *stopping()]) == [False, False, True, True]
    assert compared([*task("-++"), *stopping()]) == [False, False, False]
    assert compared([*task("-+", minutes=61), *stopping()]) == [True, True]
    assert compared([*task("-+", hours=[1, 1]), *stopping()]) == [False, False]
    assert compared(task("+-+-")) == [True] * 4
    assert compared(task("+")) == [False]


def test_a_run_is_known_by_what_went_before_it():
    """Runs that ended at one moment were not before each other."""
    runs = [*task("--+-", hours=[1, 2, 2, 3]), *stopping()]
    found = attempts_of(runs)
    assert [found[each][1:] for each in range(4)] == [
        (0, False), (1, False), (1, False), (2, True),
    ]  # fmt: skip
    assert attempts_of(runs[::-1]) == found


def bulk(times, *, arrival, minutes=None):
    """Return tasks in which one way fails and the other one then succeeds, reported together."""
    runs = []
    for number in range(28):
        for attempt, way in enumerate(("first", "second")):
            place = 2 * number + attempt
            arrived = NOW + (place / 1e6 if arrival else 0.0)
            ended = times(number, attempt, arrived)
            runs.append(
                structs.replace(
                    run(place, task=number, success=way == "second"), patterns=(way,),
                    ended_at=ended, received_at=arrived if arrival else None,
                    duration_ms=None if minutes is None else minutes * 60_000,
                )
            )  # fmt: skip
    return runs


@pytest.mark.parametrize("minutes", [None, 5])
@pytest.mark.parametrize("arrival", [True, False])
@pytest.mark.parametrize(
    "times",
    [
        lambda _number, _attempt, arrived: arrived,
        lambda _number, _attempt, _arrived: NOW - HOUR,
        lambda number, _attempt, _arrived: NOW - number * HOUR,
        lambda number, attempt, arrived: arrived if attempt else NOW - number * HOUR,
        lambda number, attempt, arrived: NOW - number * HOUR if attempt else arrived,
    ],
    ids=["no times", "one time", "a time for each task", "the last has none", "the first has none"],
)
def test_two_equal_ways_reported_together_have_no_effect(times, arrival, minutes):
    """Without times, with equal ones, and with some missing: who is tried again succeeds last."""
    if not arrival and times(1, 0, 0.0) != times(1, 1, 0.0):
        pytest.skip("what has times of its own in part has arrived")
    found = estimate(bulk(times, arrival=arrival, minutes=minutes), now=NOW, half_life_days=90)
    assert [found.pattern(way).effect for way in ("first", "second")] == [NO_EFFECT, NO_EFFECT]
