"""Reading rankings at prompt time: from the cache, stale, empty, and never in the way."""

import contextlib
import pickle
import socket
import time
from dataclasses import replace

import pytest

from tests.prompt.advised import known_pattern as pattern
from tests.prompt.advised import rankings, record
from trackrecord.prompt.reading.cache import cached_ages, write_document
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import load_settings


@pytest.fixture
def reader(settings, fake_client):
    return RankingsReader(settings, fake_client)


def test_what_was_written_is_read_with_its_age(fake_client, settings, reader):
    """Objects, text, age; nothing is wrong."""
    good, bad = pattern("tests-first", 8, 0), pattern("big-bang", 1, 6)
    write_document(fake_client, settings, rankings(patterns=(good,), anti_patterns=(bad,)))
    answer = reader.read(project="p")
    assert answer.patterns == (good,)
    assert answer.anti_patterns == (bad,)
    assert '- an agent\'s strategy "tests-first" [PROVEN - 8 of 8 runs succeeded]' in answer.prompt
    assert (
        '- AVOID: an agent\'s strategy "big-bang". Failed 6/7 times (86% failure rate)'
        in answer.prompt
    )
    assert 0 <= answer.age_s < 5
    assert (answer.is_stale, answer.problem, answer.left_out) == (False, None, 0)


def test_another_project_sees_nothing(fake_client, settings, reader):
    """Also one whose name looks like a key of the first."""
    write_document(fake_client, settings, rankings(patterns=(pattern("x", 5, 0),)))
    for other in ("q", "P", "p:", "p*", "*", "../p"):
        answer = reader.read(project=other)
        assert (answer.prompt, answer.problem) == ("", "nothing is learnt yet")


def test_a_task_orders_the_competences(fake_client, settings, reader):
    """Only those whose trigger or recipe fits the task are handed out, whatever their ids."""
    write_document(
        fake_client,
        settings,
        rankings(
            competences=(
                record("a", ["get_user", "refund"], "refund request"),
                record("b", ["go_build", "go_test"], "build is red"),
            )
        ),
    )
    by_task = reader.read(project="p", task="the build is red again", limit=1)
    assert [each.id for each in by_task.competences] == ["b"]
    assert by_task.left_out == 0
    assert [each.id for each in reader.read(project="p", limit=1).competences] == ["a"]
    by_recipe = reader.read(project="p", task="go build, then go test", limit=1)
    assert [each.id for each in by_recipe.competences] == ["b"]


def test_limit_and_budget_say_what_they_left_out(fake_client, settings, reader):
    """Also what was too much for the cache."""
    patterns = tuple(pattern(f"p{number:02}", 9, 0) for number in range(20))
    write_document(fake_client, settings, rankings(patterns=patterns, beyond={"patterns": 7}))
    assert len(reader.read(project="p", limit=3).patterns) == 3
    assert reader.read(project="p", limit=3).left_out == 24
    small = reader.read(project="p", budget=60)
    assert 0 < len(small.told["patterns"]) < 20
    assert small.tokens <= 60
    assert small.left_out == 27 - len(small.told["patterns"])
    nothing = reader.read(project="p", budget=0)
    assert (nothing.prompt, nothing.left_out) == ("", 27)


def test_what_was_asked_before_is_answered_from_the_newest_rankings(fake_client, settings, reader):
    """Each question has its own answer, the same again as long as the rankings are the same."""
    patterns = tuple(pattern(f"p{number:02}", 9, 0) for number in range(60))
    warnings = (pattern("big-bang", 1, 6),)
    write_document(fake_client, settings, rankings(patterns=patterns, anti_patterns=warnings))
    questions = (
        {}, {"budget": None}, {"budget": 100}, {"limit": 5}, {"lang": "zh"}, {"budget": 0},
        {"include": ["anti_patterns"]},
    )  # fmt: skip
    first = [reader.read(project="p", **question) for question in questions]
    assert len({answer.prompt for answer in first}) == len(questions)
    again = [reader.read(project="p", **question) for question in questions]
    assert [replace(answer, age_s=None) for answer in again] == [
        replace(answer, age_s=None) for answer in first
    ]
    # Nor is it found out twice why.
    assert all(one.why is other.why for one, other in zip(first, again, strict=True))
    fresh = RankingsReader(settings, fake_client)
    write_document(fake_client, settings, rankings(revision=2, patterns=patterns[:2]))
    for question in questions:
        answer = reader.read(project="p", **question)
        assert replace(answer, age_s=None) == replace(
            fresh.read(project="p", **question), age_s=None
        )
        assert len(answer.patterns) <= 2


def test_a_copy_of_an_answer_explains_itself(fake_client, settings, reader):
    """An agent may hand its answer to another process before it asks why."""
    patterns = tuple(pattern(f"p{number:02}", 9, 0) for number in range(20))
    write_document(fake_client, settings, rankings(patterns=patterns))
    answer = reader.read(project="p", budget=60)
    copied = pickle.loads(pickle.dumps(answer))  # noqa: S301 - our own
    assert {why.is_in for why in copied.why} == {True, False}
    assert (copied, copied.why) == (answer, answer.why)


def test_the_last_answer_stands_in_when_redis_goes_away(redis_server, settings):
    """Marked stale, with the reason, and fresh again once Redis is back."""
    reader = RankingsReader(load_settings(home=settings.home, retry_after_s=0.05))
    with redis_server.client() as client:
        write_document(client, settings, rankings(patterns=(pattern("x", 5, 0),)))
    assert not reader.read(project="p").is_stale
    redis_server.stop()
    stale = reader.read(project="p")
    assert stale.is_stale
    assert "redis is unavailable" in stale.problem
    assert [each.id for each in stale.patterns] == ["x"]
    redis_server.start()
    time.sleep(0.1)
    assert not reader.read(project="p").is_stale


def test_without_redis_and_without_memory_the_answer_is_empty(settings):
    """Empty, not broken."""
    answer = RankingsReader(settings).read(project="p")
    assert (answer.prompt, answer.patterns, answer.age_s) == ("", (), None)
    assert "redis is unavailable" in answer.problem


def test_a_redis_that_hangs_holds_an_agent_up_once_and_not_for_long(home):
    """The first question waits for the time-out; those after it do not even connect."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home / "redis.sock"))
        listening.listen()
        listening.setblocking(False)
        reader = RankingsReader(
            load_settings(
                home=home, redis_connect_timeout_s=0.2, redis_timeout_s=0.2, retry_after_s=3600
            )
        )
        assert "redis is unavailable" in reader.read(project="p").problem
        assert _connections(listening) > 0
        for _ in range(100):
            assert "redis is unavailable" in reader.read(project="p").problem
        assert _connections(listening) == 0


def _connections(listening: socket.socket) -> int:
    """Return how many clients have connected since the last call."""
    accepted = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            listening.accept()[0].close()
            accepted += 1
    return accepted


def test_an_older_revision_never_replaces_a_newer_one(client, settings):
    """Two workers may finish in the other order than they began."""
    newer = rankings(revision=7, patterns=(pattern("new", 5, 0),))
    assert write_document(client, settings, newer)
    assert not write_document(client, settings, rankings(revision=6))
    assert [each.id for each in RankingsReader(settings).read(project="p").patterns] == ["new"]
    assert write_document(client, settings, rankings(revision=7))
    ages = cached_ages(client, settings, ["p", "q"], now=time.time())
    assert set(ages) == {"p"}
    assert ages["p"].revision == 7
