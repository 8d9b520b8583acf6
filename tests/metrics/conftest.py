"""One real loop for all tests of the metrics in this run, however many processes they are in."""

import fcntl
import json
import os
import tempfile
from pathlib import Path

import pytest

from tests.metrics.running import FAILED, GOOD, UNKNOWN, Loop, loop_of
from tests.metrics.scraped import Scrape, read_scrape
from tests.support.processes import until
from trackrecord.settings.settings import load_settings
from trackrecord_worker.up.embedded_redis import EmbeddedRedis


@pytest.fixture(scope="session")
def scrape(tmp_path_factory: pytest.TempPathFactory) -> Scrape:
    """A scrape of a real front door, after a real worker has learnt something."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    text = shared / "scrape.txt"
    with (shared / "scrape.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not text.exists():
            written = shared / "scrape.new"
            written.write_text(_made())
            written.rename(text)
    return read_scrape(text.read_text())


def _made() -> str:
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        settings = load_settings(home=Path(folder), worker_concurrency=1)
        with (
            EmbeddedRedis(settings.home / "redis", settings.embedded_redis_socket) as server,
            server.client() as client,
            loop_of(settings, client) as loop,
        ):
            return _after_learning(loop)


def _after_learning(loop: Loop) -> str:
    for number in range(GOOD + FAILED + UNKNOWN):
        success = None if number >= GOOD + FAILED else number < GOOD
        body = {"task_id": f"t{number}", "success": success, "patterns": ["Split by feature"]}
        loop.redis.xadd(loop.settings.keys.outcomes, {"v": "1", "body": json.dumps(body)})
    loop.redis.xadd(loop.settings.keys.outcomes, {"v": "1", "body": "nonsense"})
    loop.wake("drain", "consolidate")
    keys = loop.settings.keys
    until(lambda: not loop.redis.xlen(keys.outcomes))
    until(lambda: loop.redis.hexists(keys.counters, "consolidations:finished"))
    silent = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "x"}}]}]}]}
    assert loop.http.post("/v1/logs", json=silent).status_code == 200
    assert loop.http.get("/nowhere").status_code == 404
    loop.scrape()
    return loop.scrape()
