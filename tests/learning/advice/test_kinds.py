"""Kinds of task: found by counting, the same whatever the order, named without personal data."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.runs.runs import Run
from trackrecord.learning.advice.tasks.kinds import OTHER, find_kinds

TEXTS = (
    "mend the broken build of module {}, the compiler says that a header is missing",
    "translate page {} of the handbook into French and keep the headings",
    "book a flight for Mia Li ({}), the cheapest economy ticket",
)


def run(number, **fields):
    """A run of a task of its own."""
    return Run(outcome=number, task_id=f"t{number}", ended_at=float(number), success=True, **fields)


def of_texts(count=8):
    """Runs of three kinds of text."""
    words = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")
    return [
        run(10 * number + place, instruction=text.format(words[number]))
        for number in range(count)
        for place, text in enumerate(TEXTS)
    ]


def test_texts_that_share_rare_words_are_a_kind():
    """Three kinds of text; a new task finds its own."""
    runs = of_texts()
    kinds = find_kinds(runs)
    positions = kinds.positions(runs)
    assert len({*positions}) == 3
    assert all(positions[place] == positions[place % 3] for place in range(len(runs)))
    assert kinds.position_for("the build is broken: compiler and header") == positions[0]
    assert kinds.position_for("translate the French handbook") == positions[1]
    assert kinds.names[kinds.position_for("quite another thing")] == OTHER
    assert kinds.names[kinds.position_for()] == OTHER


def test_names_hold_no_name_of_a_person_and_no_number():
    """Only words that several texts have as common words."""
    runs = of_texts() + [
        run(900 + number, instruction=f"Call KAI BRANDT x{number}y about mail kai.brandt@x.example")
        for number in range(9)
    ]
    said = " ".join(find_kinds(runs).names).casefold()
    for word in ("mia", "kai", "brandt", "french", "example"):
        assert word not in said.split()
    assert not any(character.isdigit() for character in said.replace("(2)", ""))


def test_the_trigger_goes_first_and_the_repository_last():
    """A trigger that enough runs have; else the words; else the repository."""
    shop = {"trigger": "Red  build", "repository": "shop", "instruction": TEXTS[1]}
    runs = [
        *of_texts(),
        *(run(500 + number, **shop) for number in range(3)),
        *(run(600 + number, repository="shop 4711") for number in range(3)),
        run(700, trigger="once only"),
    ]
    kinds = find_kinds(runs)

    def name(**fields):
        return kinds.names[kinds.position_for(**fields)]

    assert name(text=TEXTS[1], trigger="red build", repository="shop 4711") == "red build"
    assert "handbook" in name(text=TEXTS[1], repository="shop 4711")
    assert name(repository="shop 4711") == "shop"
    assert name(trigger="once only") == OTHER


@given(
    st.lists(
        st.builds(
            dict,
            trigger=st.sampled_from(["", "a", "A ", "b"]),
            repository=st.sampled_from(["", "r"]),
            instruction=st.one_of(st.sampled_from(["", *TEXTS]), st.text(max_size=30)),
        ),
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_neither_order_nor_hostile_texts_matter(given_runs, chance):
    """The same kinds with the same names in the same places; each run has one."""
    runs = [run(number, **fields) for number, fields in enumerate(given_runs)]
    kinds = find_kinds(runs)
    shuffled = list(runs)
    chance.shuffle(shuffled)
    assert find_kinds(shuffled) == kinds
    assert len(set(kinds.names)) == len(kinds.names)
    assert all(0 <= position < len(kinds.names) for position in kinds.positions(runs))


def test_there_are_never_too_many_kinds():
    """As many triggers and texts as there are runs: a bounded number of kinds."""
    chance = random.Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=5)) for _ in range(900)]
    runs = [
        run(number, trigger=f"signal {number // 3}", instruction=" ".join(chance.sample(words, 6)))
        for number in range(1500)
    ]
    assert len(find_kinds(runs).names) <= 200 + 40 + 200 + 1


@pytest.mark.parametrize("text", ["", "the", "!!!", "7 8 9", "\ud800"])
def test_a_text_without_a_word_has_the_kind_that_is_left(text):
    """And so has a task without a text."""
    kinds = find_kinds(of_texts())
    assert kinds.position_for(text) == kinds.other


def test_of_too_many_texts_all_kinds_are_looked_at():
    """Also those that come late in the alphabet."""
    chance = random.Random(4)
    letters = "abcdefghijklmnopqrstuvwxyz"

    def word():
        return "".join(chance.choices(letters, k=6))

    runs = [
        run(number, instruction=f"{verb} the {thing} of {word()} {word()}")
        for number in range(0, 1400, 3)
        for verb, thing in (("add", "button"), ("move", "chart"), ("zap", "invoice"))
    ]
    names = " ".join(find_kinds(runs).names)
    assert "button" in names
    assert "invoice" in names
