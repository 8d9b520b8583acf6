"""What made the difference among past runs of one text: told where it is so, not by chance."""

import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.learning.advice.histories import run
from trackrecord.learning.advice.past.past_differences import (
    RunFact,
    exact_probability,
    past_differences,
)

SEEDS = 100
TOOLS = ("look", "search", "edit", "ask", "move", "close")


def told(text, number, *calls, **more):
    """A run of a text."""
    return structs.replace(run(number, *calls, **more), instruction=text)


def orders(chance, *, helps=0.0):
    """Three hundred runs of ten texts; one of the tools may help."""
    runs = []
    for number in range(300):
        calls = [tool for tool in TOOLS if chance.random() < 0.5]
        if chance.random() < 0.3:
            calls.append(f"move!code {'abc'[number % 3] * 9} is unknown")
        success = chance.random() < (0.2 + helps if "ask" in calls else 0.2)
        runs.append(told(f"{'abcdefghij'[number % 10] * 5} order", number, *calls, success=success))
    return runs


def test_a_permuted_history_says_nothing():
    """In at least 95 of 100 seeds; that it would say something of the planted one is seen below."""
    silent = 0
    for seed in range(SEEDS):
        chance = random.Random(seed)
        runs = orders(chance, helps=0.7)
        outcomes = [each.success for each in runs]
        chance.shuffle(outcomes)
        permuted = [
            structs.replace(each, success=success)
            for each, success in zip(runs, outcomes, strict=True)
        ]
        silent += not past_differences(permuted)
    assert silent >= 95


def test_what_is_planted_is_found():
    """The tool that helps is named for most texts, and hardly ever another one."""
    named = [
        each.fact.tool
        for seed in range(10)
        for each in past_differences(orders(random.Random(seed), helps=0.7))
    ]
    assert len(named) >= 60
    assert named.count("ask") >= 0.95 * len(named)


def test_neither_order_nor_repetition_matters():
    """The same set of runs tells the same."""
    runs = orders(random.Random(3), helps=0.7)
    shuffled = list(runs)
    random.Random(4).shuffle(shuffled)
    assert past_differences(shuffled) == past_differences(runs) != []


def test_a_check_explains_nothing():
    """Success was read from it: that it passed, that it ran and which error it met."""

    def checked(number, *calls):
        success = number % 2 == 1
        check = "pytest" if success else "pytest!no such id"
        return told("repair order 7", number, "look", check, *calls[:success], success=success)

    assert past_differences([checked(number) for number in range(40)]) == []
    (found,) = past_differences([checked(number, "ask") for number in range(40)])
    assert (found.fact, found.with_runs, found.with_successes) == (RunFact("ask"), 20, 20)


def test_who_tries_until_it_works_proves_nothing_by_the_last_try():
    """What is tried second comes to hard tasks alone: both ways are equally good."""
    chance, runs = random.Random(5), []
    for task in range(60):
        for attempt in range(9):
            success = chance.random() < (0.9 if task % 2 else 0.1)
            way = "first" if attempt == 0 else "second"
            number = 10 * task + attempt
            runs.append(told(f"repair order {task}", number, way, task=task, success=success))
            if success:
                break
    assert any("second" in [step.tool for step in each.steps] for each in runs)
    assert past_differences(runs) == []


def test_repositories_are_apart():
    """The same text in another repository is another task."""
    runs = [
        structs.replace(
            told(
                "repair order 7", number, "ask" if number % 2 else "look", success=number % 2 == 1
            ),
            repository="shop" if number < 20 else "tools",
        )
        for number in range(40)
    ]
    assert [(each.repository, each.runs) for each in past_differences(runs)] == [
        ("shop", 20), ("tools", 20),
    ]  # fmt: skip


@given(st.data())
def test_the_probability_is_that_of_all_counts_no_likelier(data):
    """As whole numbers give it."""
    total = data.draw(st.integers(1, 60))
    drawn, successes = (data.draw(st.integers(0, total)) for _ in range(2))
    low, high = max(0, drawn + successes - total), min(drawn, successes)
    hits = data.draw(st.integers(low, high))
    ways = {
        k: comb(successes, k) * comb(total - successes, drawn - k) for k in range(low, high + 1)
    }
    least = sum(each for each in ways.values() if each <= ways[hits]) / comb(total, drawn)
    assert exact_probability(hits, drawn, successes, total) == pytest.approx(least, rel=1e-6)
