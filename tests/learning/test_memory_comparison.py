"""A correction is stored, a fact about somebody else pushes nothing out, a repetition is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.memories.comparison import Likeness, compare
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.memories.trigrams import trigram_similarity

RULES = MemoryRules()
SAME, CONTRADICTS, OTHER = Likeness.SAME, Likeness.CONTRADICTS, Likeness.OTHER


def likeness(older, newer):
    return compare(RULES, older, newer, trigram_similarity(older, newer))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The staging database listens on port 5432", "The staging database listens on port 5433"),
        ("Install it with npm, never with pnpm", "Install it with pnpm, never with npm"),
        ("Force pushes to main are allowed here", "Force pushes to main are not allowed here"),
        ("The batch limit of exports is 100", "The batch limit of exports is 500"),
        ("The build machines run on ubuntu 22", "The build machines run on ubuntu 24"),
        ("Always clear the build cache first", "Never clear the build cache first"),
        ("You can deploy on Fridays", "You can't deploy on Fridays"),
        ("发布前需要清理缓存", "发布前不需要清理缓存"),
    ],
)  # fmt: skip
def test_a_correction_is_a_contradiction(older, newer):
    """And never the same, however alike the two texts are; in both directions."""
    assert likeness(older, newer) is CONTRADICTS
    assert likeness(newer, older) is CONTRADICTS


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Customer 4711 prefers to be called", "Customer 4712 prefers to be called"),
        ("Refunds are pending for customer 4711", "Refunds are pending for customer 4712"),
        ("Alice prefers small pull requests", "Robert prefers small pull requests"),
        ("The invoice ORD-1234 was paid in March", "The invoice ORD-9876 was paid in March"),
        ("The mail of the owner is ann@example.com", "The mail of the owner is bob@example.com"),
        ("Commit 1234567 broke the docs build", "Commit 7654321 broke the docs build"),
        ("Run unit tests before you push to main", "Run unit tests and lint before you push main"),
        ("a b", "completely different"),
    ],
)  # fmt: skip
def test_similar_is_not_contradicting(older, newer):
    """Both are kept."""
    assert likeness(older, newer) is OTHER
    assert likeness(newer, older) is OTHER


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Run the tests before you push", "Run the tests before you push"),
        ("Run tests, then push to main", "Run tests，then push to main"),
        ("Run tests, then push to main", "run the tests then push to main."),
        ("Ｕｓｅ　ｕｖ for this project", "Use uv for this project"),
        ("Clear the build cache before releases", "Always clear the build cache before releases"),
        ("Clear the build cache before release", "Clear the build caches before releases"),
    ],
)
def test_the_same_in_other_spelling(older, newer):
    """Punctuation, width, case, articles and endings say nothing new."""
    assert likeness(older, newer) is SAME


words = st.lists(
    st.sampled_from(
        [
            "use",
            "npm",
            "pnpm",
            "for",
            "the",
            "build",
            "not",
            "never",
            "22",
            "24",
            "is",
            "on",
            "port",
        ]
    )
)


@given(words, words)
def test_what_differs_in_a_number_or_a_negation_is_never_the_same(one, other):
    """Whatever else the texts have in common."""
    texts = " ".join(one), " ".join(other)
    assert compare(RULES, texts[0], texts[0], 1.0) is SAME
    for marks in ({"22", "24"}, {"not", "never"}):
        counts = [sorted(word for word in text if word in marks) for text in (one, other)]
        if counts[0] != counts[1]:
            assert compare(RULES, *texts, 0.99) is not SAME


@given(st.text(), st.text(), st.floats(0, 1))
def test_any_two_texts_can_be_compared(older, newer, alike):
    """And what is the same or contradicts is so in both directions."""
    assert compare(RULES, older, newer, alike) in Likeness
    same = compare(RULES, older, newer, alike) is SAME
    assert same == (compare(RULES, newer, older, alike) is SAME)
