"""A correction is stored, a fact about somebody else pushes nothing out, a repetition is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.memories.comparison import Likeness, compare
from trackrecord.learning.memories.trigrams import trigram_similarity

SAME, CONTRADICTS, OTHER = Likeness.SAME, Likeness.CONTRADICTS, Likeness.OTHER


def likeness(older, newer):
    return compare(older, newer, trigram_similarity(older, newer))


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
        ("The lamp needs 12 V", "The lamp needs 24 V"),
        ("The limit is 5 GB", "The limit is 500 MB"),
        ("The lamp is on", "The lamp is off"),
        ("The build needs Python 3.11", "The build needs Python 3.12"),
        ("Do not clear the cache first", "Clear the cache first"),
        ("Force pushes to main are allowed", "Force pushes to main are forbidden"),
        ("Use tabs, not spaces", "Use spaces, not tabs"),
        ("客厅里的红色台灯需要12伏", "客厅里的红色台灯需要24伏"),
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
        ("Run make test before a commit", "Run make lint before a commit"),
        ("Run make test before a commit", "Never run make lint before a commit"),
        ("Wash the lamp before the shade", "Wash the cable before the shade"),
        ("Ask Ann about the red switch", "Ask Bob about the red switch"),
        ("Ask Paul about the red switch", "Ask Paula about the red switch"),
        ("Wear gloves in room 12", "Wear gloves in room 13"),
        ("Room 12 leaks", "Room 13 leaks"),
        ("Close valve 3 first", "Close valve 4 first"),
        ("The API supports version 3", "The API supports version 4"),
        ("Bob owns the lamp", "Bob owns the shade"),
        ("The lamp is red", "The lamp is broken"),
        ("Call Ann if Bob is away", "Call Bob if Ann is away"),
        ("If Ann is away do not call Bob", "If Bob is away do not call Ann"),
        ("Stop the pump before a deploy", "Restart the pump before a deploy"),
        ("The build needs C++ here", "The build needs C# here"),
        ("Push with --force to staging", "Push with force to staging"),
        ("Press 🔴 to start", "Press 🟢 to start"),
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


FORMS = [
    "Run {} before a commit", "Ask {} about the red switch", "Restart {} after a deploy",
    "Ann knows how to mend {}", "The door is opened by {}", "Bob owns {}", "{} needs a new bulb",
]  # fmt: skip
THINGS = ["make test", "make lint", "Ann", "Bob", "the queue", "the cache", "a lamp", "room 12"]


@given(st.sampled_from(FORMS), st.permutations(THINGS))
def test_what_is_said_of_two_things_is_kept_of_both(form, things):
    """Whatever the sentence, and wherever in it they stand."""
    older, newer = form.format(things[0]), form.format(things[1])
    assert compare(older, newer, 0.99) is OTHER


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
    assert compare(texts[0], texts[0], 1.0) is SAME
    for marks in ({"22", "24"}, {"not", "never"}):
        counts = [sorted(word for word in text if word in marks) for text in (one, other)]
        if counts[0] != counts[1]:
            assert compare(*texts, 0.99) is not SAME


@given(st.text(), st.text(), st.floats(0, 1))
def test_any_two_texts_can_be_compared(older, newer, alike):
    """And what is the same or contradicts is so in both directions."""
    assert compare(older, newer, alike) in Likeness
    same = compare(older, newer, alike) is SAME
    assert same == (compare(newer, older, alike) is SAME)
