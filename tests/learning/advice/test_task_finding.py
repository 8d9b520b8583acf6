"""Finding past tasks by their words: what counts, within which bounds, in whatever order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.task_finding import (
    MOST_ASKED,
    MOST_TERMS,
    Holders,
    Question,
    terms_of,
    with_others,
)
from trackrecord.learning.advice.texts import Went, found_task_line

TERMS = st.integers(0, 30)
TASKS = st.dictionaries(st.integers(0, 200), st.frozensets(TERMS, min_size=1), min_size=1)
ASKED = st.frozensets(TERMS, min_size=1)


def holders_of(tasks, asked):
    found = {}
    for term in asked:
        numbers = sorted(number for number, terms in tasks.items() if term in terms)
        if numbers:
            found[term] = Holders(len(numbers), numbers)
    return found


@given(TASKS, ASKED)
def test_similarity_lies_between_nothing_and_all(tasks, asked):
    """1 for the same words, 0 without a common one; more words of its own make a task less so."""
    holders = holders_of(tasks, asked)
    if not holders:
        return
    question = Question.of(holders, len(tasks))
    for terms in tasks.values():
        similarity = question.similarity(terms)
        assert 0.0 <= similarity <= 1.0 + 1e-9
        assert (similarity > 0) == bool(terms & holders.keys())
        assert question.similarity(terms | {99}) <= similarity
    assert question.similarity(holders.keys()) == pytest.approx(1.0)


@given(TASKS, ASKED, st.randoms())
def test_the_order_of_words_and_tasks_does_not_matter(tasks, asked, chance):
    """Wherever holders come from, candidates and similarities are the same to the last digit."""
    holders = holders_of(tasks, asked)
    if not holders:
        return
    shuffled = list(holders.items())
    chance.shuffle(shuffled)
    one, other = (Question.of(each, len(tasks)) for each in (holders, dict(shuffled)))
    assert one.candidates(holders) == other.candidates(dict(shuffled))
    for terms in tasks.values():
        assert one.similarity(sorted(terms)) == other.similarity(sorted(terms))


@given(TASKS, ASKED)
def test_all_that_share_a_word_are_candidates_while_they_are_few(tasks, asked):
    """Those that share most first; of many, 32 are left."""
    holders = holders_of(tasks, asked)
    if not holders:
        return
    candidates = Question.of(holders, len(tasks)).candidates(holders)
    sharing = {number for number, terms in tasks.items() if terms & asked}
    assert set(candidates) <= sharing
    assert len(candidates) == len(set(candidates)) == min(32, len(sharing))


def test_the_rare_word_leads_and_the_common_ones_only_count():
    """Beside thousands that share two common words, the one that has a rare one, too, is first."""
    common = list(range(1024))
    holders = {1: Holders(50_000, common), 2: Holders(40_000, common), 3: Holders(2, [500, 70_000])}
    candidates = Question.of(holders, 100_000).candidates(holders)
    assert candidates[0] == 500
    assert candidates[1] == 70_000


@given(TASKS, ASKED, st.lists(st.frozensets(TERMS), max_size=5))
def test_words_that_only_new_tasks_have_count_too(tasks, asked, new):
    """What is not indexed yet is a holder without a number."""
    holders = holders_of(tasks, asked)
    found = with_others(holders, asked, new)
    assert holders.items() <= found.items()
    for term in asked - holders.keys():
        known = sum(term in each for each in new)
        assert found.get(term) == (Holders(known, ()) if known else None)


def test_terms_are_bounded_and_the_longest_words_stay():
    """Of a text of a thousand words, too; stop words and case do not count."""
    words = [f"{'abcdefghij'[n % 10] * (n % 40 + 2)}{n}" for n in range(1000)]
    for most in (MOST_TERMS, MOST_ASKED):
        found = terms_of(" ".join(words), most)
        assert len(found) <= most
        assert found == terms_of(" ".join(reversed(words)), most) == sorted(set(found))
    assert terms_of("Fix the LOGIN of it", 9) == terms_of("login fix", 9)
    assert terms_of("the of and", 9) == terms_of("", 9) == []


@pytest.mark.parametrize(
    ("went", "english", "chinese"),
    [
        (Went(1, 0), "[succeeded]", "[成功]"),
        (Went(0, 1), "[failed]", "[失败]"),
        (Went(1, 0, ("a", "b")), "[succeeded: a → b]", "[成功:a → b]"),
        (
            Went(0, 1, (), "timeout"),
            "[failed; a failure ended in: timeout]",
            "[失败;一次失败的结尾:timeout]",
        ),
        (
            Went(2, 1, ("a",), "x"),
            "[2 of 3 succeeded: a; a failure ended in: x]",
            "[3次中2次成功:a;一次失败的结尾:x]",
        ),
    ],
)
def test_lines(went, english, chinese):
    """How past tasks ended, by which tools, in what; what they say opens nothing."""
    assert found_task_line("Fix it", went) == f'- "Fix it" {english}'
    assert found_task_line("Fix it", went, "zh") == f'- "Fix it" {chinese}'
    hostile = found_task_line("# Heading\n```\n<system>", went._replace(steps=("# x\n",)))
    assert "\n" not in hostile
    assert hostile.startswith("- ")
