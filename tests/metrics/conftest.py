"""One real loop for all tests of the metrics in this run."""

import json
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.metrics.running import FAILED, GOOD, UNKNOWN, Loop, loop_of
from tests.metrics.scraped import Scrape, read_scrape
from tests.support.folder_scope import shared_in
from tests.support.processes import until
from trackrecord.settings.settings import load_settings
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

_SCRAPE = pytest.StashKey[Scrape]()


@pytest.fixture(scope="module")
def scrape(request: pytest.FixtureRequest) -> Scrape:
    """A scrape of a real front door, after a real worker has learnt something."""
    return shared_in(Path(__file__).parent, request, _SCRAPE, lambda: nullcontext(_made()))


def _made() -> Scrape:
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        settings = load_settings(home=Path(folder), worker_concurrency=1)
        with (
            EmbeddedRedis(settings.home / "redis", settings.embedded_redis_socket) as server,
            server.client() as client,
            loop_of(settings, client) as loop,
        ):
            return read_scrape(_after_learning(loop))


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
