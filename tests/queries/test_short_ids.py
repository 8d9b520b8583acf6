"""Short ids: a beginning stands for the one id that has it, and for no other."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from sqlalchemy import Column, MetaData, String, Table, create_engine, insert, true

from trackrecord.errors import AmbiguousId, UnknownId
from trackrecord.resources.access.short_ids import (
    matching,
    nearest_id,
    only_match,
    run_ids_by_parts,
    shortened,
    shortened_run_ids,
    whole_id,
)

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


_PARTS = st.text("ab1-", min_size=2, max_size=12)


@given(st.lists(st.tuples(st.sampled_from(["codex", "pi"]), _PARTS, _PARTS), max_size=20))
@example([("codex", "11", "11"), ("codex", "111", "11")])
def test_a_short_id_of_a_captured_run_stands_for_one_run(runs):
    """Of the same session or of others; the agent is left out."""
    ids = sorted({":".join(run) for run in runs})
    # Two agents' sessions of one id are not told apart.
    assume(len({each.partition(":")[2] for each in ids}) == len(ids))
    short = shortened_run_ids(ids)
    table = Table("ids", MetaData(), Column("id", String))
    with create_engine("sqlite://").begin() as connection:
        table.create(connection)
        if ids:
            connection.execute(insert(table), [{"id": each} for each in ids])
        for some_id, shown in short.items():
            assert shown.count(":") == 1
            assert run_ids_by_parts(connection, table.c.id, true(), shown) == [some_id]
    assert len(set(short.values())) == len(ids)


def test_a_short_id_of_a_captured_run_is_short():
    """Eight characters of the session, four of the prompt; an id of another form is as before."""
    run = "claude-code:540a8f92-9d04-4794-9d44-a53d78eedef2:7210cab4-46eb-4a64-bc76-fd6182174490"
    plain = "tau-bench-98f5f07786891bac98da356f8027f466"
    assert shortened_run_ids([run, plain]) == {run: "540a8f92:7210", plain: "tau-benc"}


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("split-by-compnent", "split-by-component"), ("SPLIT-BY-COMPONENT", "split-by-component"),
        ("split-component", "split-by-component"), ("split-by-cmop", "split-by-component"),
        ("0123456789abcdfe", "skill-0123456789abcdef"), ("01234x6789", "skill-0123456789abcdef"),
        ("skill-0123456789abdef", "skill-0123456789abcdef"), ("nothing-like-it", None), ("", None),
        ("x" * 100_000, None),
    ],
)  # fmt: skip
def test_the_nearest_id_is_the_one_that_was_probably_meant(typed, nearest):
    """Whole or shortened, without what all ids of records begin with, in any letter case."""
    known = ["split-by-component", "split-by-file-type", "skill-0123456789abcdef"]
    assert nearest_id(typed, known) == nearest
