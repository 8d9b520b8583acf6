"""Lessons of any runs: order-free, each run once, bounded, distinct, and inert in a prompt."""

from hypothesis import given
from hypothesis import strategies as st

from tests.learning.advice.histories import histories, lessons, run
from trackrecord.learning.advice.lessons.lesson import LessonState
from trackrecord.learning.text.inert import one_line


@given(histories(), st.randoms(use_true_random=False))
def test_order_and_doubling_change_nothing(runs, chance):
    """Lessons follow from the set of runs."""
    again = runs + runs[: len(runs) // 2]
    chance.shuffle(again)
    assert lessons(again, min_tasks=2, established_tasks=2) == lessons(
        runs, min_tasks=2, established_tasks=2
    )


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
