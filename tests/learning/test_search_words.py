"""Words that texts are found by, in English and Chinese alike."""

import re

from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.text.words import (
    asked_words,
    indexed_words,
    lexeme,
    lexemes,
)


def test_words_and_bigrams():
    """English by words, Chinese by pairs of characters and by single ones."""
    assert indexed_words("Run goBuild, 清理缓存") == {
        "run", "go", "build", "清理", "理缓", "缓存", "清", "理", "缓", "存",
    }  # fmt: skip


def test_words_that_say_nothing_are_not_asked_for():
    """A question of nothing else asks for nothing."""
    assert asked_words("How can I clear the cache") == {"clear", "cache"}
    assert asked_words("to be or not to be") == frozenset()
    assert asked_words("如何清理") == {"何清", "清理"}


@given(st.text(), st.integers(1, 10**9))
def test_lexemes_need_no_quoting(text, scope):
    """Whatever was written, a lexeme is letters and digits, and begins with its project."""
    for each in lexemes(scope, indexed_words(text)):
        assert re.fullmatch(rf"p{scope}[wx][0-9a-z]+", each)


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_different_words_have_different_lexemes(one, other):
    """Also those of different projects."""
    assert (lexeme(1, one) == lexeme(1, other)) == (one == other)
    assert lexeme(1, one) != lexeme(11, other)
