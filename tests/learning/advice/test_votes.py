"""Votes: the successes of similar tasks say which procedure a task's text speaks for."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.past.past_tasks import ballots_of
from trackrecord.learning.advice.past.votes import NEEDS_MORE_BELOW, recommend
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.numbers.decay import DAY

NOW = 1_780_000_000.0
CANCEL = "cancel my reservation and refund the ticket"
BOOK = "book a flight with two seats for tomorrow"


def run(number, text, tools, *, success=True, ended_at=NOW, **fields):
    """One run of a task."""
    return Run(
        outcome=number,
        task_id=f"t{number}",
        ended_at=ended_at,
        success=success,
        instruction=text,
        steps=tuple(RunStep(tool) for tool in tools),
        **fields,
    )


def asked(runs, text, *, now=NOW, **options):
    """The recommendation for a text."""
    return recommend(ballots_of(runs), text, now=now, **options)


def desk():
    """A desk where cancelling and booking take different tools."""
    return [
        run(1, CANCEL, ["find", "refund"]),
        run(2, f"{CANCEL}, please", ["refund", "find"]),
        run(3, f"{CANCEL} today", ["find", "give_up"], success=False),
        run(4, BOOK, ["search", "book"]),
        run(5, f"{BOOK} evening", ["search", "book"]),
    ]


def test_similar_successes_vote_and_dissimilar_ones_do_not():
    """The share of the votes is the confidence; failures are told and do not vote."""
    found = asked(desk(), "please cancel the reservation, I want a refund")
    assert found.ranked[0].tools == ("find", "refund")
    assert (found.ranked[0].successes, found.ranked[0].texts) == (2, 2)
    assert found.confidence == found.ranked[0].share == pytest.approx(1)
    assert not found.needs_more
    assert [voted.tools for voted in asked(desk(), BOOK).ranked] == [("book", "search")]


def test_each_success_votes_with_its_own_age():
    """What was done ten times 900 days ago is not renewed by what was done of it yesterday."""
    old, yesterday = NOW - 900 * DAY, NOW - DAY
    runs = [
        *(run(number, CANCEL, ["old"], ended_at=old) for number in range(10)),
        *(run(20 + number, CANCEL, ["new"], ended_at=yesterday) for number in range(3)),
        run(30, BOOK, ["x"]),
    ]
    failed = run(40, CANCEL, ["old"], success=False, ended_at=yesterday)
    again = run(41, CANCEL, ["old"], ended_at=yesterday)
    shares = [
        {voted.tools: voted.share for voted in asked(each, CANCEL).ranked}["old",]
        for each in (runs, [*runs, failed], [*runs, again])
    ]
    assert shares[0] == pytest.approx(10 / 2**10 / (10 / 2**10 + 3 / 2 ** (1 / 90)), rel=1e-6)
    assert shares[1] == pytest.approx(shares[0])
    assert shares[2] == pytest.approx(1 / 4, abs=0.01)


def test_scattered_votes_and_unknown_texts_need_more_information():
    """A weak top share is no recommendation, and neither is none."""
    scattered = [run(n, CANCEL, [f"tool_{n}", "find"]) for n in range(6)]
    again = [run(9 + n, BOOK, [f"tool_{n}", "find"]) for n in range(6)]
    found = asked([*scattered, *again], CANCEL)
    assert found.confidence == pytest.approx(1 / 6)
    assert found.needs_more
    nothing = asked(desk(), "paint the wall")
    assert (nothing.ranked, nothing.confidence, nothing.needs_more) == ((), 0.0, True)
    assert asked([], CANCEL).needs_more
    assert asked([run(1, CANCEL, ["find"], success=False)], CANCEL).needs_more


def test_a_task_like_all_others_is_told_what_succeeds_mostly():
    """Words of more than half of the texts tell none apart, and yet they are shared."""
    runs = [run(n, f"close the ticket of {chr(97 + n)}x", ["close"]) for n in range(9)]
    runs.append(run(9, "close the ticket of zz", ["give_up"]))
    found = asked(runs, "close the ticket of somebody")
    assert found.ranked[0].tools == ("close",)
    assert found.confidence == pytest.approx(0.9)
    assert len(found.similar) == 10
    assert asked(runs, "paint the wall").ranked == ()


def test_without_a_text_every_success_votes():
    """The commonest success of the project."""
    found = asked([*desk(), run(6, "paint the wall", ["search", "book"])], None)
    assert found.ranked[0].tools == ("book", "search")
    assert found.confidence == pytest.approx(3 / 5)


def test_excluded_procedures_are_not_recommended():
    """The votes are shared among the others."""
    ballots = ballots_of([*desk(), run(6, CANCEL, ["call"]), run(7, BOOK, ["call"])])
    (best, *_) = recommend(ballots, CANCEL, now=NOW).ranked
    found = recommend(ballots, CANCEL, now=NOW, excluded=frozenset([best.procedure]))
    assert best.tools == ("find", "refund")
    assert [voted.tools for voted in found.ranked] == [("call",)]
    assert found.confidence == pytest.approx(1)


TEXTS = st.lists(st.sampled_from(["cancel", "book", "退款", "a b", "\x00", "💥", ""]), max_size=4)
RUNS = st.lists(
    st.builds(
        run,
        st.integers(0, 30),
        TEXTS.map(" ".join),
        st.lists(st.sampled_from(["x", "y", "z", "+", "\\"]), max_size=3),
        success=st.booleans(),
        ended_at=st.floats(0, 2e9),
    ),
    max_size=12,
    unique_by=lambda run: run.outcome,
)


@given(RUNS, TEXTS.map(" ".join), st.randoms(use_true_random=False))
def test_order_and_doubling_make_no_difference(runs, text, shuffled):
    """The same votes to the last digit; shares are shares; the best stands first."""
    again = [*runs, *runs[:5]]
    shuffled.shuffle(again)
    found = asked(runs, text)
    assert asked(again, text) == found
    assert all(0 <= voted.share <= 1 for voted in found.ranked)
    assert found.needs_more == (found.confidence < NEEDS_MORE_BELOW)
    if found.ranked:
        shares = [voted.share for voted in found.ranked]
        assert math.fsum(shares) == pytest.approx(1)
        assert shares == sorted(shares, reverse=True)
