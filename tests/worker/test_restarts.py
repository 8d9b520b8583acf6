"""When a child that ended is started again, and when `up` gives up."""

from hypothesis import given
from hypothesis import strategies as st

from trackrecord_worker.up.daemon import Restarts


def pauses(*, was_up: bool, lived_s: float = 1.0) -> list[float]:
    """The pauses until it gives up."""
    restarts = Restarts()
    found: list[float] = []
    while (pause_s := restarts.note_end(lived_s=lived_s, was_up=was_up)) is not None:
        found.append(pause_s)
    return found


def test_pauses_double():
    """Up to half a minute, and the person who has just typed the command waits for seconds only."""
    assert pauses(was_up=False) == [1.0, 2.0, 4.0]
    assert pauses(was_up=True) == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0, 30.0]


@given(st.lists(st.floats(0, 59), max_size=3))
def test_a_child_that_lived_for_a_minute_begins_anew(short_lives):
    """However often it ended before."""
    restarts = Restarts()
    for lived_s in short_lives:
        restarts.note_end(lived_s=lived_s, was_up=True)
    assert restarts.note_end(lived_s=60.0, was_up=True) == 1.0


def test_a_child_that_is_not_needed_is_never_given_up():
    """Everything else goes on, and it is tried every half minute."""
    restarts = Restarts(is_needed=False)
    found = [restarts.note_end(lived_s=1.0, was_up=True) for _ in range(5000)]
    assert found[:5] == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert set(found[5:]) == {30.0}
