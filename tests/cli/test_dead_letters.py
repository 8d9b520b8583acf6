"""dead list, replay, discard: what could not be learnt is kept, shown and mended."""

import pytest
import redis

from tests.support.processes import until
from trackrecord.settings.settings import load_settings


@pytest.fixture
def client(up):
    with redis.Redis(unix_socket_path=str(up / "redis.sock")) as connected:
        connected.delete("trackrecord:dead")
        yield connected
        connected.delete("trackrecord:dead")


def add_dead(client, body, count=1):
    """Put a bad body onto the stream and wait until it is among the dead letters."""
    for _ in range(count):
        client.xadd("trackrecord:outcomes", {"v": 1, "body": body})
    until(lambda: client.xlen("trackrecord:dead") >= count)


def test_a_dead_letter_is_listed_with_its_reason_and_bytes(client, trackrecord):
    """Also when its bytes are no text."""
    add_dead(client, b'{"task_id": \xff}')
    (letter,) = trackrecord("dead", "list", "--json").json
    assert letter["reason"] == "body is not UTF-8"
    assert letter["body"] == '{"task_id": \\xff}'
    assert "not UTF-8" in trackrecord("dead", "list").out


def test_replay_brings_back_what_fails_again_and_discard_ends_it(client, trackrecord):
    """Replaying what is still wrong sets it aside again; nothing multiplies."""
    add_dead(client, b"no json", count=2)
    ran = trackrecord("dead", "replay", "--all")
    assert (ran.status, ran.out) == (0, "2 put back into the stream\n")
    until(lambda: client.xlen("trackrecord:dead") >= 2)
    first, second = trackrecord("dead", "list", "--json").json
    assert trackrecord("dead", "discard", first["id"]).out == "1 discarded\n"
    assert [each["id"] for each in trackrecord("dead", "list", "--json").json] == [second["id"]]
    assert trackrecord("dead", "discard", "--all").out == "1 discarded\n"
    assert trackrecord("dead", "list").out == "no dead letters\n"


def test_replay_learns_what_has_become_right(client, trackrecord, project, up):
    """A letter whose cause is mended is learnt."""
    settings = load_settings(home=up)
    body = b'{"task_id": "t", "success": true, "project": "%s"}' % project.encode()
    client.xadd(
        settings.keys.dead, {"v": 1, "body": body, "reason": "body is too large", "entry_id": "1-1"}
    )
    (letter,) = trackrecord("dead", "list", "--json").json
    assert trackrecord("dead", "replay", letter["id"]).status == 0
    status = ("status", "--project", project, "--json")
    until(lambda: trackrecord(*status).json.get("outcomes") == 1)
    assert client.xlen(settings.keys.dead) == 0
