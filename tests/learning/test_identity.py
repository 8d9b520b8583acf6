"""Identities: the same pattern has one id, different ones have different ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.rules_bundle import Rules
from trackrecord.learning.strategies.catalogue import STRATEGIES
from trackrecord.learning.text.slug import (
    ANTI_PREFIX,
    MAX_ID_LENGTH,
    MAX_SLUG_LENGTH,
    anti_id,
    pattern_id_of,
    slug_of_words,
)
from trackrecord.wire.outcome_scorer import recogniser_of

slug_of = recogniser_of(Rules()).slug_of

# Letters with unusual folds, marks, width and punctuation are likelier than in plain text().
names = st.text(st.sampled_from("aAßſİıÅΣςﬁ²Ａ１é\u0301\u0345ᾳẞ按层-_ anti（)") | st.characters())


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("file-based", "file-based"), ("File Based!", "file-based"),
        ("  FILE_based ", "file-based"), ("Split by file type", "split-by-file-type"),
        ("按文件类型拆分", "split-by-file-type"),
        ("Split by layer (UI/logic/data)", "split-by-layer"),
        ("split-by-layer-ui-logic-data", "split-by-layer"),
        ("按层拆分(UI/逻辑/数据)", "split-by-layer"),
        ("按层拆分（ＵＩ／逻辑／数据）", "split-by-layer"), ("按 租户", "按-租户"),
        ("हिन्दी", "हिन्दी"), ("Straße", "strasse"), ("Ｆｕｌｌ　Ｗｉｄｔｈ", "full-width"),
    ],
)  # fmt: skip
def test_names(name, slug):
    """Language, letter case, width and punctuation do not matter."""
    assert slug_of(name) == slug


@pytest.mark.parametrize("name", ["", " ", "\t\n", "---", "（）", "\u200b", "🚀"])
def test_what_names_nothing(name):
    """Without a letter or a digit there is no pattern."""
    assert slug_of(name) is None


def test_every_strategy_has_one_id_in_both_languages():
    """And the twelve ids are different."""
    for strategy in STRATEGIES:
        assert slug_of(strategy.name_en) == slug_of(strategy.name_zh) == strategy.slug
    assert len({strategy.slug for strategy in STRATEGIES}) == 12


@given(names)
def test_a_slug_is_its_own_slug(name):
    """An id that an agent hands back leads to the same pattern."""
    slug = slug_of(name)
    assert slug is None or slug_of(slug) == slug


@given(names)
def test_letter_case_does_not_matter(name):
    """Beyond ASCII as well."""
    assert slug_of(name.casefold()) == slug_of(name)


@given(names)
def test_only_anti_patterns_begin_with_anti(name):
    """An anti-pattern's id is no pattern's, and leads back to its pattern."""
    slug = slug_of(name)
    if slug is not None:
        assert not slug.startswith(ANTI_PREFIX)
        assert anti_id(slug).startswith(ANTI_PREFIX)
        assert pattern_id_of(anti_id(slug)) == slug == pattern_id_of(slug)


def test_a_pattern_named_anti_is_no_anti_pattern():
    """Three things, three ids."""
    assert slug_of("anti-foo") == slug_of("Anti Foo") == "anti_foo"
    assert anti_id("foo") == "anti-foo"
    assert anti_id("anti_foo") == "anti-anti_foo"
    assert slug_of("antifoo") == "antifoo"
    assert slug_of("anti") == "anti"


def test_long_names_are_bounded_and_stay_apart():
    """The ids of anti-patterns too."""
    one, other = "word " * 300 + "one", "word " * 300 + "other"
    slugs = {slug_of_words(one), slug_of_words(other)}
    assert len(slugs) == 2
    for slug in slugs:
        assert slug is not None
        assert len(anti_id(slug)) <= MAX_ID_LENGTH
        assert slug_of(slug) == slug
    assert slug_of("x" * MAX_SLUG_LENGTH) == "x" * MAX_SLUG_LENGTH
    assert slug_of("x" * (MAX_SLUG_LENGTH + 1)) != slug_of("x" * (MAX_SLUG_LENGTH + 2))
