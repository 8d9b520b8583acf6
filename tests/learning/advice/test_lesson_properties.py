"""Lessons of any runs: order-free, each run once, bounded, distinct, and inert in a prompt."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning.advice.histories import NOW, coding, histories, lessons, run
from trackrecord.learning.advice.lessons.lesson import LessonState
from trackrecord.learning.advice.runs.runs import RunStep
from trackrecord.learning.text.inert import one_line


@settings(deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_order_and_doubling_change_nothing(runs, chance):
    """Lessons follow from the set of runs."""
    again = runs + runs[: len(runs) // 2]
    chance.shuffle(again)
    assert lessons(again, min_tasks=2, established_tasks=2) == lessons(
        runs, min_tasks=2, established_tasks=2
    )


@pytest.mark.parametrize("seed", range(3))
def test_order_changes_nothing_in_long_histories(seed):
    """Sums of floats are exact, ties are broken by names."""
    runs = coding(seed)
    shuffled = random.Random(seed).sample(runs, len(runs))
    assert lessons(shuffled) == lessons(runs)


@settings(deadline=None)
@given(histories())
def test_every_lesson_is_sound(runs):
    """Counts agree, numbers lie in their ranges, and each line is one harmless line."""
    found = lessons(runs, min_tasks=2, established_tasks=2)
    assert len({each.id for each in found}) == len(found)
    for each in found:
        assert 0 < len(each.id) <= 32
        assert 0 <= each.strength <= 1
        assert 0 <= each.failing_calls <= max(each.calls, each.failing_calls)
        assert 2 <= each.tasks <= each.runs
        assert 0 <= each.successes <= each.runs
        assert len(each.outcomes) == min(each.runs, 20)
        assert each.interval is None or -1 <= each.interval[0] <= each.interval[1] <= 1
        assert set(each.lines) == {"en", "zh"}
        for line in (*each.lines.values(), *each.also):
            assert line == one_line(line, 2000)
            assert "[PROVEN" not in line
            assert len(line) < 1000


def test_the_weakest_are_dropped():
    """Those that are kept are the same as without a bound."""
    runs = [
        run(100 * tool + n, f"tool{tool}!gone wrong", task=100 * tool + n)
        for tool in range(12)
        for n in range(3 + tool)
    ]
    every = lessons(runs)
    assert len(every) == 12
    assert lessons(runs, max_lessons=5) == every[:5]
    assert lessons(runs, max_lessons=0) == ()


def test_faded_lessons_stand_last():
    """Nothing of today has to wait behind them."""
    runs = [run(n, "build!no space") for n in range(50)] + [run(n, "build") for n in range(50, 99)]
    runs += [run(n, "book!no seat" if n % 2 else "book") for n in range(100, 110)]
    assert [each.state for each in lessons(runs)] == [LessonState.ESTABLISHED, LessonState.FADED]


def test_what_still_happens_is_not_hidden_behind_what_stopped():
    """The same runs show both; the error that was mended does not take the other one in."""
    runs = [run(n, "fetch!no space", "shell!x not found") for n in range(30)]
    runs += [run(n, "fetch", "shell!x not found") for n in range(30, 50)]
    (found,) = (each for each in lessons(runs) if each.state is LessonState.ESTABLISHED)
    assert found.tools == ("shell",)


def test_every_number_is_one_that_was_counted():
    """The line of a failure names its own counts and nothing else."""
    found = lessons(coding(5))
    for each in found:
        numbers = set(map(int, re.findall(r"\d+", each.lines["en"])))
        if each.kind == "fails":
            assert {each.failing_calls, each.calls, each.tasks} - {each.calls} <= numbers


def test_no_runs():
    """Nothing is known."""
    assert lessons([]) == ()
    assert lessons([run(1)]) == ()


@pytest.mark.linear_time
def test_very_long_runs_of_many_tools_stay_cheap():
    """Hundreds of tools that all fail: what is looked at is bounded."""
    runs = [
        run(n, *(RunStep(f"tool {k}", "no" if k % 3 else None, k) for k in range(400)))
        for n in range(60)
    ]
    assert len(lessons(runs, now=NOW)) <= 200
