"""The places of outcomes: in Redis, in the spool, or not yet anywhere, as while Redis hangs."""

import json
from pathlib import Path
from typing import Any

import redis

from trackrecord_producers.delivery.stream_and_spool_format import read_spool_line


def arrived(client: redis.Redis) -> list[dict[str, Any]]:
    """The bodies on the outcomes' stream, oldest first."""
    entries: Any = client.xrange("trackrecord:outcomes")
    assert all(fields[b"v"] == b"1" for _, fields in entries)
    return [json.loads(fields[b"body"]) for _, fields in entries]


def dead_letters(client: redis.Redis) -> list[tuple[str, bytes]]:
    """Reason and body of each dead letter, oldest first."""
    entries: Any = client.xrange("trackrecord:dead")
    return [(fields[b"reason"].decode(), fields[b"body"]) for _, fields in entries]


def spooled(home: Path) -> list[dict[str, Any]]:
    """The bodies of outcomes in the spool, oldest file first."""
    files = sorted((home / "spool").glob("*.jsonl"))
    lines = [read_spool_line(line) for file in files for line in file.read_bytes().splitlines()]
    return [json.loads(body) for kind, body in lines if kind == "outcome"]


def kept(client: redis.Redis, home: Path) -> dict[str, str]:
    """The task_id of each outcome that is on the stream, in the spool or in both, by its id."""
    return {body["outcome_id"]: body["task_id"] for body in arrived(client) + spooled(home)}


def hanging(port: int, timeout_s: str) -> dict[str, str]:
    """The variables of an agent whose Redis is a port that never answers."""
    return {
        "TRACKRECORD_REDIS_URL": f"redis://127.0.0.1:{port}/0",
        "TRACKRECORD_REDIS_TIMEOUT_S": timeout_s,
        "TRACKRECORD_REDIS_CONNECT_TIMEOUT_S": timeout_s,
    }
