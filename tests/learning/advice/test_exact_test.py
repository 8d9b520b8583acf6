"""What is said of procedures and patterns is more than chance, of all that were tested."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.worlds.permuted import history, prompts, said
from trackrecord.learning.advice.lessons.chance import Stratum, chance_of

_SEEDS = range(400, 420)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_the_chance_of_one_stratum_is_that_of_all_ways_to_deal(outcomes, data):
    """Counted out, one way after the other."""
    labelled = data.draw(st.integers(0, len(outcomes)))
    won = data.draw(st.integers(0, labelled))
    ways = list(combinations(outcomes, labelled))
    counted = sum(sum(way) >= won for way in ways) / len(ways)
    found = chance_of([Stratum(len(outcomes), sum(outcomes), labelled, won)])
    assert abs(found - counted) < 1e-9


def test_dealt_outcomes_say_nothing_and_planted_ones_do():
    """In the whole prompt about a task: procedures, comparisons, lessons that compare runs."""
    dealt = [said(prompts(history(seed, is_permuted=True))) for seed in _SEEDS]
    assert sum(any(each.values()) for each in dealt) <= 2
    planted = [said(prompts(history(seed, is_permuted=False))) for seed in _SEEDS[:3]]
    assert all(each["procedures"] == 3 for each in planted)
