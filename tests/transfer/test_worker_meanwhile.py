"""A move while a worker runs: outcomes wait in the stream, and are learnt into the new store."""

import json
import time

import pytest
from sqlalchemy import func, select

from trackrecord.settings.settings import load_settings
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.outcomes.tables import outcomes
from trackrecord_cli.main import run
from trackrecord_worker.up.daemon import Daemon

_PATIENCE_S = 90.0


@pytest.fixture
def published(tmp_path):
    """Publishes outcomes by the command line."""

    def publish(start, count, *options):
        path = tmp_path / f"{start}.jsonl"
        lines = [
            json.dumps({"outcome_id": f"o{number}", "task_id": "t", "success": True})
            for number in range(start, start + count)
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
        assert run(["publish", str(path), *options]) == 0

    return publish


def _count(url):
    engine = connect_store(url)
    with reading(engine) as connection:
        found = connection.execute(select(func.count()).select_from(outcomes)).scalar_one()
    engine.dispose()
    return found


def test_what_arrives_during_a_move_is_learnt_into_the_new_store(
    home, tmp_path, published, monkeypatch, capfd
):
    """The worker of the old store leaves it in the stream; one that is started anew learns it."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    old, new = f"sqlite:///{home / 'trackrecord.db'}", f"sqlite:///{tmp_path / 'new.db'}"
    quick = {"home": home, "claim_idle_s": 1.0, "backoff_max_s": 1.0, "retry_after_s": 0.1}
    with (home / "worker.log").open("wb") as log:
        with Daemon(load_settings(**quick), log=log):
            published(0, 50, "--wait")
            assert run(["move", "--to", new]) == 0
            published(50, 50)
            capfd.readouterr()
            deadline = time.monotonic() + _PATIENCE_S
            while b"this store was moved to" not in (home / "worker.log").read_bytes():
                assert time.monotonic() < deadline, (home / "worker.log").read_text()
                time.sleep(0.1)
        monkeypatch.setenv("TRACKRECORD_DATABASE_URL", new)
        with Daemon(load_settings(**quick), log=log):
            deadline = time.monotonic() + _PATIENCE_S
            while _count(new) < 100:
                assert time.monotonic() < deadline, (home / "worker.log").read_text()
                time.sleep(0.1)
    assert (_count(old), _count(new)) == (50, 100)
