"""Dead letters are bounded, by number and size, whoever sends what; none goes uncounted."""

import pytest
import redis

from tests.worker.working import publish
from trackrecord.errors import InvalidRequest
from trackrecord.redis.dead_letter_stream import (
    KEPT_BYTES,
    MOST_BYTES,
    MOST_FIELDS,
    MOST_LETTERS,
    drop_excess,
)
from trackrecord.redis.fleet_counts import LETTERS_DROPPED, refused_count
from trackrecord.resources.operation.dead_letters import read_letters, replay_letters
from trackrecord.resources.operation.flow import read_flow
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.wire.kinds import MARK
from trackrecord_worker.learning.entries import RefusedEntry
from trackrecord_worker.learning.stream import OutcomeStream
from trackrecord_worker.services import Services
from trackrecord_worker.up.embedded_redis import EmbeddedRedis


@pytest.fixture
def store_settings(settings: Settings, redis_server: EmbeddedRedis) -> Settings:
    """Settings with the usual largest body; one database is enough here."""
    assert redis_server.is_answering()
    return load_settings(home=settings.home, drain_block_s=0.01)


def drain(worker: Services) -> None:
    """Learn until the stream is empty."""
    while worker.redis.xlen(worker.settings.keys.outcomes):
        worker.drain.run()


def held_bytes(client: redis.Redis, settings: Settings) -> int:
    """Return how many bytes the dead letters hold."""
    return sum(len(each.body) for each in read_letters(client, settings.keys))


def test_the_oldest_of_too_many_go_and_are_counted(worker):
    """Also those that others have added, and however some were deleted meanwhile."""
    keys, client = worker.settings.keys, worker.redis
    with client.pipeline() as pipe:
        for number in range(MOST_LETTERS):
            pipe.xadd(keys.dead, {"body": f"old {number}"})
        pipe.execute()
    client.xdel(keys.dead, *[each for each, _ in client.xrange(keys.dead, count=10)])
    publish(client, worker.settings, *[b"nonsense %d" % number for number in range(30)])
    drain(worker)
    assert client.xlen(keys.dead) == MOST_LETTERS
    (oldest,) = read_letters(client, keys, limit=1)
    assert oldest.body == "old 30"
    flow = read_flow(client, keys)
    assert (flow.dead_letters, flow.dead_letters_dropped) == (MOST_LETTERS, 20)
    with client.pipeline() as pipe:
        for _ in range(7):
            pipe.xadd(keys.dead, {"body": "by hand"})
        pipe.execute()
    worker.drain.take_over()
    assert client.xlen(keys.dead) == MOST_LETTERS
    assert int(client.hget(keys.counters, LETTERS_DROPPED) or 0) == 27


def test_an_entry_that_is_refused_twice_is_one_letter(worker):
    """By two workers, or again because the answer was lost when the connection broke."""
    keys, client = worker.settings.keys, worker.redis
    publish(client, worker.settings, b"nonsense")
    stream = OutcomeStream(client, keys)
    stream.ensure_group()
    ((entry_id, fields),) = stream.read_new(10, None)
    assert fields is not None
    for _ in range(2):
        stream.set_aside([RefusedEntry(entry_id, fields, "it is nonsense")])
    assert client.xlen(keys.dead) == 1
    assert int(client.hget(keys.counters, refused_count("invalid")) or 0) == 1
    assert client.xlen(keys.outcomes) == 0


def test_large_ones_go_sooner(worker):
    """All of them together have a size that they never pass; the newest stay."""
    keys, client = worker.settings.keys, worker.redis
    body = b"x" * (worker.settings.max_body_bytes - 100)
    number = 2 * MOST_BYTES // len(body)
    for _ in range(number):
        # Marked as one without secrets: looking for those in all of it takes half a minute.
        client.xadd(keys.outcomes, {"v": "1", "body": body, MARK: "1"})
        drain(worker)
    held = held_bytes(client, worker.settings)
    assert MOST_BYTES / 2 < held <= MOST_BYTES
    dropped = int(client.hget(keys.counters, LETTERS_DROPPED) or 0)
    assert client.xlen(keys.dead) + dropped == number
    assert drop_excess(client, keys) == 0


def test_an_entry_of_the_largest_body_stays_whole(worker):
    """It can be replayed; so can one that was too large, after the limit was raised."""
    keys, client = worker.settings.keys, worker.redis
    body = b"x" * (2 * worker.settings.max_body_bytes)
    publish(client, worker.settings, body)
    drain(worker)
    (letter,) = read_letters(client, keys)
    assert letter.cut_from_bytes is None
    assert replay_letters(client, keys, [letter.id]) == 1
    assert client.xrange(keys.outcomes)[0][1][b"body"] == body


@pytest.mark.parametrize(
    "fields",
    [
        {"v": "1", "body": b"x" * 10_000_000},
        {"v": "1", "n" * 5_000_000: "x"},
        {f"f{number}": "x" for number in range(9_000)},
        {"v": "1", "body": "{}", "cut_from_bytes": "9" * 30, "reason": "own", "entry_id": "1-1"},
    ],
    ids=["long value", "long name", "many fields", "names of ours"],
)
def test_what_is_larger_is_cut(worker, fields):
    """The list says from how much; what was cut cannot be replayed, and is left where it is."""
    keys, client = worker.settings.keys, worker.redis
    client.xadd(keys.outcomes, fields)  # type: ignore[arg-type] # its dict is invariant
    drain(worker)
    (letter,) = read_letters(client, keys)
    assert letter.reason not in {"", "own"}
    kept = {"body": letter.body, **letter.fields}
    assert len(kept) <= MOST_FIELDS + 1
    assert sum(len(name) + len(value) for name, value in kept.items()) <= 3 * KEPT_BYTES
    if "entry_id" in fields:
        assert letter.cut_from_bytes is None
        return
    size = sum(len(name) + len(value) for name, value in fields.items())
    assert letter.cut_from_bytes == size
    with pytest.raises(InvalidRequest, match="only their beginning was kept"):
        replay_letters(client, keys, None)
    publish(client, worker.settings, b"small nonsense")
    drain(worker)
    assert replay_letters(client, keys, None) == 1
    assert client.xlen(keys.dead) == 1
