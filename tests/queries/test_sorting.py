"""Orders of lists: one way to write them, stable, with what has no value last."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.errors import InvalidRequest
from trackrecord.resources.declaration.paging import Order, Sorting
from trackrecord.resources.experience import patterns


@dataclass(frozen=True)
class Thing:
    """Something with a rate that may be unknown."""

    id: str
    rate: float | None


PATTERNS = patterns.PATTERNS.sorting("list")
THINGS = Sorting("things", lambda each: each.id, {"rate": lambda each: each.rate})
_THINGS = st.lists(
    st.builds(Thing, st.text(max_size=3), st.none() | st.integers(0, 3)), unique_by=lambda t: t.id
)


@given(_THINGS, st.booleans(), st.randoms())
def test_entries_stand_in_the_order_whatever_order_they_come_in(things, is_descending, random):
    """By the key, equal ones by id, and what has no value at the end in both directions."""
    order = Order("rate", is_descending)
    found = THINGS.sorted(things, order)
    assert sorted(found, key=lambda each: each.id) == sorted(things, key=lambda each: each.id)
    shuffled = list(things)
    random.shuffle(shuffled)
    assert THINGS.sorted(shuffled, order) == found
    sign = -1 if is_descending else 1
    ranks = [
        (each.rate is None, 0 if each.rate is None else sign * each.rate, each.id) for each in found
    ]
    assert ranks == sorted(ranks)


def test_a_minus_turns_the_order_round_and_underscores_are_hyphens():
    """As in the fields of JSON."""
    assert PATTERNS.order("rate") == Order("rate")
    assert PATTERNS.order("-last_seen") == PATTERNS.order("-last-seen") == Order("last-seen", True)
    assert str(PATTERNS.order("-last_seen")) == "-last-seen"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rat", "patterns cannot be sorted by 'rat'; did you mean 'rate'?"),
        ("-last-sen", "patterns cannot be sorted by 'last-sen'; did you mean 'last-seen'?"),
        ("%%", "patterns cannot be sorted by '%%'; the keys are id, name, state, score, rate, "),
        ("", "patterns cannot be sorted by ''; the keys are id, "),
    ],
)
def test_an_unknown_key_is_told_the_nearest_one(text, said):
    """Or all of them, where none is near."""
    with pytest.raises(InvalidRequest) as caught:
        PATTERNS.order(text)
    assert str(caught.value).startswith(said)
