"""Forwarding the spool: everything reaches Redis, whoever wrote it and whatever it holds."""

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.producers.what_became import arrived, dead_letters
from tests.support.processes import until
from trackrecord.errors import ServerUnavailable
from trackrecord.redis.client import agent_client
from trackrecord.settings.settings import load_settings
from trackrecord_producers.delivery.stream_writer import send
from trackrecord_producers.spool.files import spool_size
from trackrecord_producers.spool.forwarder import forward_spool, forwarding

WHOLE = b'{"task_id":"t","success":true}'


@pytest.fixture
def folder(home):
    (home / "spool").mkdir()
    return home / "spool"


def _bodies(client):
    return [fields[b"body"] for _, fields in client.xrange("trackrecord:outcomes")]


def test_files_of_gone_writers_are_sent_oldest_first_and_deleted(settings, folder, client):
    """In the order in which their lines were written."""
    (folder / "2.jsonl").write_bytes(b"third\n")
    (folder / "1.jsonl").write_bytes(b"first\nsecond\n")
    assert forward_spool(settings, client) == 3
    assert _bodies(client) == [b"first", b"second", b"third"]
    assert list(folder.iterdir()) == []


def test_a_killed_writers_outcomes_are_forwarded(settings, folder, client):
    """The lock ends with its process."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "from trackrecord_producers.spool.files import SpoolWriter\n"
        f"w = SpoolWriter(Path({str(folder)!r}), 10**6); w.append([b'one', b'two'])\n"
        "print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert forward_spool(settings, client) == 0
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert forward_spool(settings, client) == 2


def test_what_is_no_file_of_ours_is_left_alone(settings, folder, home, client):
    """Links, pipes, folders and files of other names stay untouched."""
    outside = home / "outside"
    outside.write_bytes(WHOLE + b"\n")
    (folder / "link.jsonl").symlink_to(outside)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "notes.txt").write_bytes(WHOLE + b"\n")
    before = sorted(folder.iterdir())
    assert forward_spool(settings, client) == 0
    assert sorted(folder.iterdir()) == before
    assert outside.exists()


def test_nothing_is_deleted_before_redis_took_it_all(home, folder, redis_server, client):
    """The file stays when Redis goes away in the middle."""
    settings = load_settings(home=home, publish_batch=10)
    (folder / "1.jsonl").write_bytes(b"".join(b"%d\n" % n for n in range(100)))
    steps = forwarding(settings, agent_client(settings))
    assert next(steps) == 10
    redis_server.kill()
    with pytest.raises(ServerUnavailable):
        list(steps)
    assert spool_size(settings).outcomes == 100
    redis_server.start()
    with redis_server.client() as fresh:
        assert forward_spool(settings, fresh) == 100
        assert set(_bodies(fresh)) == {b"%d" % n for n in range(100)}


def test_two_forwarders_share_the_work(settings, folder, client):
    """Each file is sent by one of them."""
    for number in range(40):
        (folder / f"{number}.jsonl").write_bytes(b"%d\n" % number * 10)
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda _: forward_spool(settings, client), range(4))) == 400
    assert sorted(_bodies(client)) == sorted(b"%d" % n for n in range(40) for _ in range(10))


def test_a_spool_far_larger_than_memory_should_be_is_forwarded_in_steps(settings, folder, client):
    """Memory stays bounded while it is sent."""
    body = b'{"task_id":"t","success":true,"instruction":"' + b"x" * 200_000 + b'"}'
    with (folder / "1.jsonl").open("wb") as file:
        for _ in range(100):
            file.write(body + b"\n")
    steps = list(forwarding(settings, client))
    assert sum(steps) == 100
    assert max(steps) <= 4 * 1024 * 1024 // 200_000


@hypothesis_settings(max_examples=40)
@given(
    content=st.lists(
        st.one_of(st.binary(max_size=40), st.just(b"\n"), st.just(WHOLE), st.just(b"y" * 2000)),
        max_size=12,
    ).map(b"".join)
)
def test_whatever_a_file_holds_nothing_of_it_is_lost(client, content):
    """Each byte goes onto the stream or to the dead letters."""
    client.delete("trackrecord:outcomes", "trackrecord:dead")
    with tempfile.TemporaryDirectory() as home:
        settings = load_settings(home=Path(home), max_body_bytes=1024, publish_batch=3)
        settings.spool_dir.mkdir()
        (settings.spool_dir / "1.jsonl").write_bytes(content)
        forward_spool(settings, client)
        assert list(settings.spool_dir.iterdir()) == []
    kept = b"".join([*_bodies(client), *(body for _, body in dead_letters(client))])
    assert sorted(kept) == sorted(content.replace(b"\n", b""))
    assert all(len(body) <= 1024 for body in _bodies(client))


def test_send_says_that_redis_is_away(home, closed_port):
    """The message says what to do."""
    settings = load_settings(home=home, redis_url=f"redis://:hidden@127.0.0.1:{closed_port}/0")
    with pytest.raises(ServerUnavailable, match="TRACKRECORD_REDIS_URL") as caught:
        send(agent_client(settings), settings.keys, [b"{}"])
    assert "hidden" not in str(caught.value)


def test_send_says_that_redis_refuses_without_repeating_the_content(settings, client):
    """Bodies do not belong in a log."""
    client.config_set("maxmemory", "100kb")
    with pytest.raises(ServerUnavailable, match="maxmemory") as caught:
        send(client, settings.keys, [b'{"secret":1}'])
    assert "secret" not in str(caught.value)


def test_a_spool_that_fills_while_it_is_forwarded_ends(agent_settings, home, client, publisher_of):
    """An agent forwards in steps between its own outcomes, which do not wait for the spool."""
    folder = home / "spool"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.jsonl").write_bytes((WHOLE + b"\n") * 500)
    publisher = publisher_of(agent_settings)
    publisher.publish({"task_id": "own", "success": True})
    assert publisher.flush(60)
    publisher.publish({"task_id": "own", "success": True})
    assert publisher.flush(60)
    until(lambda: publisher.stats().forwarded == 10_000)
    told = [body["task_id"] for body in arrived(client)]
    assert len(told) == 10_002
    assert told[-1] != "own"
