"""Whatever is in the cache, and whatever agents wrote: the agent that asks is not harmed."""

import msgspec
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from tests.prompt.advised import known_pattern, rankings
from tests.support.prompt_answers import answer_from
from trackrecord.prompt.documents.rankings_document import RankedPattern, RankingsDocument
from trackrecord.prompt.reading.cache import write_document
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import Settings


def entry(slug: str, content: str, *, failed: bool = False) -> RankedPattern:
    return known_pattern(slug, *((0, 6) if failed else (6, 0)), content=content)


def document(*patterns: RankedPattern) -> RankingsDocument:
    return rankings(
        computed_at=1.0,
        patterns=tuple(each for each in patterns if not each.is_negative),
        anti_patterns=tuple(each for each in patterns if each.is_negative),
    )


@pytest.fixture
def reader(settings: Settings, fake_client: redis.Redis) -> RankingsReader:
    return RankingsReader(settings, fake_client)


def test_a_later_version_of_the_cache(fake_client, settings, reader):
    """States and languages that this version does not know are left out; the rest is given."""
    known = entry("known", "known")
    later = msgspec.structs.replace(entry("later", "later"), state="legendary")
    mute = msgspec.structs.replace(entry("mute", "mute"), lines={"fr": "- muet"})
    silent = msgspec.structs.replace(entry("silent", "silent", failed=True), lines={})
    write_document(fake_client, settings, document(known, later, mute, silent))
    for language in ("en", "zh"):
        answer = reader.read(project="p", lang=language)
        assert [each.id for each in answer.told["patterns"]] == ["known"]
        assert answer.told["anti_patterns"] == ()
        assert answer.left_out == 3
        assert answer.prompt.count("\n- ") == 1


@pytest.mark.parametrize(
    "junk", [b"", b"{", b"null", b"[]", b"\xff", b'{"project":"p"}', b"[" * 9999]
)
def test_junk_in_the_cache(junk, fake_client, settings, reader):
    """Is no answer, and no error."""
    fake_client.hset(settings.keys.rankings("p"), mapping={"revision": 1, "document": junk})
    answer = reader.read(project="p")
    assert answer.prompt == ""
    assert answer.problem == "the cache was written by another version"


def test_something_else_under_the_key(client, settings):
    """A key of another type is an answer of Redis's that is no answer."""
    client.set(settings.keys.rankings("p"), "mine")
    answer = RankingsReader(settings).read(project="p")
    assert answer.prompt == ""
    assert "unavailable" in str(answer.problem)


def test_a_flushed_cache(fake_client, settings, reader):
    """Says so at once, and is read again as soon as a worker has built it."""
    write_document(fake_client, settings, document(entry("a", "a")))
    assert reader.read(project="p").patterns
    fake_client.flushall()
    assert reader.read(project="p").problem == "nothing is learnt yet"
    write_document(fake_client, settings, document(entry("a", "a")))
    assert reader.read(project="p").patterns


# What agents may write to break out of their line.
HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\n\r\t\x0b\x0c\x1b\x85\u2028\u2029\u202e\u200b`#-*>|<&[]~=_:：。."),
    ),
    max_size=300,
)


@given(st.lists(st.tuples(HOSTILE, st.booleans()), max_size=6), st.integers(0, 400))
def test_contents_stay_one_line_each(written, budget):
    """Whatever they hold: no line, heading or fence of their own, in either language."""
    entries = [
        entry(f"s{number}", content, failed=failed)
        for number, (content, failed) in enumerate(written)
    ]
    for language in ("en", "zh"):
        for within in (None, budget):
            answer = answer_from(document(*entries), budget=within, language=language, now=2.0)
            given_out = len(answer.told["patterns"]) + len(answer.told["anti_patterns"])
            lines = answer.prompt.splitlines()
            assert sum(line.startswith("- ") for line in lines) == given_out
            assert sum(line.startswith("#") for line in lines) <= 2
            assert "```" not in answer.prompt
            assert len(lines) <= given_out + 2 * 4
            assert max(map(len, lines), default=0) < 400
            assert given_out + answer.left_out == len(entries)
            if within is not None:
                assert answer.tokens <= within
