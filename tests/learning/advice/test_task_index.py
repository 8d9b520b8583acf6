"""The task index: similar texts by the words they share, whatever their order."""

import random
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.tasks.task_index import build_index, index_words

TEXTS = [
    "cancel the reservation of two passengers",
    "book a flight for two passengers",
    "cancel the flight, refund the passengers",
    "update the baggage",
]
WORDS = st.lists(
    st.sampled_from(["cancel", "book", "flight", "bag", "seat", "refund", "座位", "退款"]),
    max_size=6,
)


def test_the_cosine_of_two_texts_by_hand():
    """A word that both have counts by its rarity, squared."""
    index = build_index(["book flight", "book hotel"])
    rare, common = (log(3 / 2) + 1) ** 2, 1.0
    (first, second) = index.similar("book flight", most=5)
    assert first == (0, pytest.approx(1))
    assert second == (1, pytest.approx(common / (common + rare)))


def test_the_best_come_first_and_what_shares_no_word_is_missing():
    """Similar texts only, as many as were asked for."""
    index = build_index(TEXTS)
    assert [found for found, _ in index.similar("cancel and refund", most=9)] == [2, 0]
    assert [found for found, _ in index.similar("cancel and refund", most=1)] == [2]
    assert index.similar("paint the wall", most=9) == []
    assert build_index([]).similar("anything", most=9) == []


def test_words_of_most_texts_find_none_and_are_known():
    """They tell no text apart, but a text without any of them is about something else."""
    index = build_index([f"close the ticket {chr(97 + n)}x" for n in range(9)])
    assert index.similar("close another ticket", most=9) == []
    assert index.is_usual("close another ticket")
    assert not index.is_usual("paint the wall")
    assert index.common == ("close", "ticket")


def test_ids_and_numbers_make_no_texts_similar():
    """Two tasks of one customer are not alike for that reason."""
    assert index_words("order W123 of mia_li_3668, 12 times") == {"order", "times"}


@given(st.lists(WORDS.map(" ".join), max_size=12), st.randoms(use_true_random=False), WORDS)
def test_the_order_of_the_texts_makes_no_difference(texts, shuffled, asked):
    """The same texts with the same cosines, wherever they stand."""
    again = list(texts)
    shuffled.shuffle(again)
    question = " ".join(asked)

    def found(these):
        hits = build_index(these).similar(question, most=100)
        return sorted((these[position], cosine) for position, cosine in hits)

    assert found(again) == found(texts)
    assert all(0 < cosine <= 1 for _, cosine in found(texts))


@pytest.mark.parametrize("most", [1, 5, 50])
def test_texts_that_are_passed_over_are_not_among_the_best(most):
    """Of texts that have only common words of the task, the cosines are never reckoned."""
    draw = random.Random(5)
    vocabulary = [f"w{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}x" for n in range(200)]
    rarer = [1 / (1 + n) for n in range(200)]
    texts = sorted(" ".join(draw.choices(vocabulary, rarer, k=12)) for _ in range(2000))
    index = build_index(texts)
    for asked in draw.sample(texts, 40):
        everything = index.similar(asked, most=len(texts))
        assert len(everything) > 8 * most
        assert index.similar(asked, most=most) == everything[:most]
