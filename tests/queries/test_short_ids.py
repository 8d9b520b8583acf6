"""Short ids: a beginning stands for the one id that has it, and for no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.errors import AmbiguousId, UnknownId
from trackrecord.queries.short_ids import matching, only_match, shortened, whole_id

_IDS = st.lists(st.text("ab1-", min_size=1, max_size=12), unique=True, max_size=20)


@given(_IDS)
def test_a_short_id_stands_for_one_id(ids):
    """Whatever ids there are: each is found again by what a table shows of it, if that is long."""
    short = shortened(ids)
    assert set(short) == set(ids)
    for some_id, shown in short.items():
        assert some_id.startswith(shown)
        if len(shown) >= 4:
            assert only_match(shown, matching(shown, ids)) == some_id


@given(_IDS, st.text("ab1-", max_size=12))
def test_a_beginning_is_found_refused_or_ambiguous(ids, typed):
    """An id that equals the text goes before others; fewer than four characters find no others."""
    beginning = [some_id for some_id in ids if some_id.startswith(typed)]
    if typed in ids:
        assert whole_id(typed, matching(typed, ids), "no") == typed
    elif len(typed) < 4 or not beginning:
        with pytest.raises(UnknownId, match="no"):
            whole_id(typed, matching(typed, ids), "no")
    elif len(beginning) == 1:
        assert whole_id(typed, matching(typed, ids), "no") == beginning[0]
    else:
        with pytest.raises(AmbiguousId):
            whole_id(typed, matching(typed, ids), "no")


def test_an_ambiguous_beginning_lists_five_ids_on_one_line():
    """And says that there are more."""
    with pytest.raises(AmbiguousId) as caught:
        only_match("abcd", [f"abcd{n}" for n in range(7)])
    assert str(caught.value) == (
        "'abcd' is ambiguous: abcd0, abcd1, abcd2, abcd3, abcd4, …; type more characters"
    )


def test_what_all_ids_of_records_begin_with_does_not_count():
    """Eight characters of the digest are shown."""
    ids = ["skill-0123456789abcdef", "skill-fedcba9876543210"]
    assert shortened(ids) == {ids[0]: "skill-01234567", ids[1]: "skill-fedcba98"}
