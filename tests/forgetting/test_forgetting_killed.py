"""Forgetting that is killed: the same again finishes, and a reader sees before or after."""

import json
import signal
from itertools import count

import pytest
import redis
from sqlalchemy import Engine, select

from tests.forgetting.killed_forgetting import forget_until
from tests.forgetting.told_store import HOUR, NOW, RULES, Told
from tests.forgetting.whole_store import whole
from tests.support.dying import exit_code_of
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.forgotten import forgettings
from trackrecord.wire.subject import Subject
from trackrecord_capture.forgetting.forget import Forgetter
from trackrecord_producers.spool.files import SpoolWriter

_projects = count(1)
CALLS = [{"tool": "find"}, {"tool": "pay"}]


def tell(told: Told, *, rest: bool) -> None:
    """Tell a store what two sources say, or only what remains of it."""
    for number in range(6):
        source = "ada" if number % 2 else "bob"
        if not rest or source == "ada":
            body = {
                "outcome_id": f"o{number}", "task_id": f"t{number}", "source": source,
                "success": number < 5, "patterns": ["small steps"], "tool_graph": CALLS,
                "instruction": "fix the build",
            }  # fmt: skip
            told.learn([body], NOW + number)
    told.consolidate(NOW + HOUR)
    if not rest:
        told.remember("m", "never merge on a friday", "bob", NOW + HOUR)


def waits(client: redis.Redis, settings: Settings, project: str) -> None:
    """Let an outcome wait in the stream, one among the dead letters, one in the spool."""
    body = {"project": project, "outcome_id": "late", "task_id": "t0", "source": "bob"}
    text = json.dumps(body | {"success": True}).encode()
    client.xadd(settings.keys.outcomes, {"v": 1, "body": text})
    client.xadd(settings.keys.dead, {"v": 1, "body": text, "reason": "r"})
    writer = SpoolWriter(settings.spool_dir, 1_000_000)
    writer.append([text])
    writer.close()


def holds(client: redis.Redis, settings: Settings, project: str) -> bool:
    """Return whether anything outside the store still holds bob's words."""
    entries = [*client.xrange(settings.keys.outcomes), *client.xrange(settings.keys.dead)]
    lines = [each.read_bytes() for each in settings.spool_dir.glob("*.jsonl")]
    texts = [fields[b"body"] for _, fields in entries] + lines
    return any(project.encode() in text and b"bob" in text for text in texts)


@pytest.mark.faults
def test_killed_anywhere_the_same_again_finishes(engine, client, home, store_url):
    """SIGKILL before any statement, commit or command of Redis: nothing of bob's is left then."""
    settings = load_settings(home=home, database_url=store_url, competence={"min_successes": 2})
    killed, number = 0, 1
    while True:
        project = f"p{next(_projects)}"
        told = Told(engine, RULES, project)
        tell(told, rest=False)
        before = whole(engine, project, at=NOW + 2 * HOUR)
        waits(client, settings, project)
        exit_code = exit_code_of(forget_until, number, home, store_url, "source", project, "bob")
        assert exit_code in (0, -signal.SIGKILL)
        after = whole(engine, project, at=NOW + 2 * HOUR)
        if exit_code != 0:
            killed += 1
            assert after == before or not mentions(after, "bob")
            again = Forgetter(
                engine, client, settings, Subject("source", project, "bob"), warn=print
            )
            if not again.found_nothing:
                again.forget(actor="test")
        rest = whole(engine, project, at=NOW + 2 * HOUR)
        assert not mentions(rest, "bob")
        assert not holds(client, settings, project)
        assert len(rest["outcomes"]) == 3
        assert unfinished_acts(engine) == 0
        if exit_code == 0:
            break
        number += 37
    assert killed > 3


def mentions(rows: dict[str, list[tuple[object, ...]]], name: str) -> bool:
    """Return whether a name occurs anywhere in rows."""
    return name in json.dumps(rows, default=repr)


def unfinished_acts(engine: Engine) -> int:
    """Return how many acts are on record as not finished."""
    with reading(engine) as connection:
        query = select(forgettings).where(forgettings.c.finished_at.is_(None))
        return len(connection.execute(query).all())
