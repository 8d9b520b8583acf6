"""Similarity by trigrams, and a filter that never loses a text that is similar enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.memories.trigrams import (
    classes_within,
    cleared,
    jaccard,
    marked,
    possibly_similar,
    size_class,
    slots_in,
    trigram_similarity,
    trigrams,
)

# Few characters, so that texts are often alike.
texts = st.text("abc 缓存", max_size=40)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("hello", "help", 0.25), ("ABC", "abc", 1.0), ("ab", "abc", 0.0), ("", "", 1.0),
        ("ab", "x", 1.0), ("清理缓存", "清理缓存", 1.0), ("清理缓存", "清理日志", 0.0),
    ],
)  # fmt: skip
def test_examples(one, other, expected):
    """Lower case, no padding; two texts without trigrams are the same."""
    assert trigram_similarity(one, other) == expected


@given(texts, texts)
def test_similarity_is_symmetric(one, other):
    """And lies in 0..1, with 1 for the same text."""
    assert trigram_similarity(one, other) == trigram_similarity(other, one)
    assert 0 <= trigram_similarity(one, other) <= 1
    assert trigram_similarity(one, one) == 1


def _index(known):
    """Blocks of all texts, and which text is where."""
    blocks, places = {}, {}
    for text in known:
        grams = trigrams(text)
        kind = size_class(len(grams))
        there = places.setdefault(kind, [])
        number, slot = divmod(len(there), slots_in(kind))
        mine = blocks.setdefault(kind, [])
        if number == len(mine):
            mine.append(b"")
        mine[number] = marked(mine[number], grams, slot)
        there.append(text)
    return blocks, places


def _found(blocks, places, text, threshold):
    grams = trigrams(text)
    return [
        places[kind][place]
        for kind in classes_within(len(grams), threshold)
        for place in possibly_similar(blocks.get(kind, []), kind, grams, threshold)
    ]


@given(st.lists(texts, max_size=60), texts, st.sampled_from([0.3, 0.5, 0.85, 1.0]))
def test_nothing_similar_is_lost(known, text, threshold):
    """Against brute force: what passes the filter holds all that is similar enough."""
    grams = trigrams(text)
    if not grams:
        return
    blocks, places = _index(known)
    expected = sorted(each for each in known if jaccard(grams, trigrams(each)) >= threshold)
    found = _found(blocks, places, text, threshold)
    assert sorted(each for each in found if jaccard(grams, trigrams(each)) >= threshold) == expected


def test_many_blocks():
    """Places are counted through all blocks of a class."""
    known = [f"the build of module {number} fails when its cache is cold" for number in range(3000)]
    blocks, places = _index(known)
    assert max(len(each) for each in blocks.values()) > 3
    for number in (0, 1, 999, 2999):
        assert known[number] in _found(blocks, places, known[number], 1.0)


@given(st.lists(texts.filter(lambda text: len(text) > 4), min_size=2, max_size=8, unique=True))
def test_what_is_cleared_is_gone(known):
    """And nothing else is."""
    grams = trigrams(known[0])
    kind = size_class(len(grams))
    block = marked(marked(b"", grams, 3), grams, 9)
    block = cleared(block, grams, 3)
    assert possibly_similar([block], kind, grams, 1.0) == [9]
