"""A disk that is full: `up` waits for room, and nothing that was taken is lost."""

import os
import tempfile
import time
from pathlib import Path

import pytest

from tests.support.dying import exit_code_of
from tests.support.small_disk import fill
from tests.worker.test_up import Up
from tests.worker.working import body, command_line, publish, recorded_ids, until
from trackrecord.process.disk_room import free_share
from trackrecord.redis.client import agent_client
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord_producers.publishing.publisher import Publisher

pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]


@pytest.fixture
def settings(small_disk: Path, tmp_path: Path) -> Settings:
    """A home on the small disk, and a spool on another one."""
    return load_settings(
        home=small_disk / "home", spool_folder=tmp_path / "spool", claim_idle_s=1.0,
        retry_after_s=0.1,
    )  # fmt: skip


def test_up_waits_for_room(settings):
    """The same `up` goes on, and says so; what was taken is learnt, from Redis or the spool."""
    running = Up(settings)
    taken: set[str] = set()
    publisher = Publisher(lambda: settings)

    def report(number: int, size: int = 10) -> None:
        fields = {"task_id": "t", "success": True, "description": "x" * size}
        outcome_id = publisher.publish({**fields, "outcome_id": f"p{number}"})
        assert outcome_id is not None
        taken.add(outcome_id)
        publisher.flush(10)

    try:
        running.until_up()
        pid = running.process.pid
        with agent_client(settings) as client:
            publish(client, settings, body(1))
            until(lambda: not client.xlen(settings.keys.outcomes))
        ballast = settings.home.parent / "ballast"
        fill(ballast)
        until(lambda: "disk_full" in running.said)
        for number in range(30):
            report(number, 100_000)
        until(lambda: publisher.stats().spooled > 0)
        for number in range(30, 40):
            report(number)
        assert publisher.stats().dropped == {}
        # An `up` that did not wait would start Redis again and again, and end when that ends.
        time.sleep(5)
        assert "embedded_redis_ended" not in running.said
        assert running.process.poll() is None, running.said
        ballast.unlink()
        engine = connect_store(settings.effective_database_url)
        until(lambda: recorded_ids(engine) >= {*taken, "o1"}, 200)
        engine.dispose()
        assert running.process.pid == pid
        assert running.process.poll() is None
        assert running.said.count('"disk_full"') == 1
        assert running.said.count('"disk_has_room_again"') == 1
    finally:
        publisher.close()
        running.end()


def test_up_on_a_full_disk(settings):
    """Ends with the one line that says so, whatever misses the room first; with room, it runs."""
    first = Up(settings)
    first.until_up()
    first.end()
    ballast = settings.home.parent / "ballast"
    fill(ballast)
    refused = command_line(settings, "up")
    assert refused.returncode == 3
    assert refused.stderr.splitlines()[-1] == (
        f"trackrecord: the disk of {settings.home} is full: make room, then start again"
    )
    ballast.unlink()
    again = Up(settings)
    again.until_up()
    again.end()


def test_where_the_spool_stands(home, tmp_path):
    """In the home, or in a folder that is named; a child process gets the same one."""
    assert load_settings(home=home).spool_dir == home / "spool"
    settings = load_settings(home=home, spool_folder=str(tmp_path / "x"))
    assert settings.spool_dir == tmp_path / "x"
    assert settings.as_environment()["TRACKRECORD_SPOOL_FOLDER"] == str(tmp_path / "x")


def _look_for_room(folder: Path) -> None:
    """Look as a user without rights; the superuser may write everywhere."""
    if os.geteuid() == 0:
        os.chown(folder, 65_534, 65_534)
        os.setuid(65_534)
    assert free_share(folder)[0] > 0
    folder.chmod(0o500)
    assert free_share(folder)[0] == 0
    folder.chmod(0o700)
    assert free_share(folder)[0] > 0


def test_where_nothing_may_be_written_there_is_no_room():
    """So that `up` waits for a home that is read-only for a while, as it waits for a full disk."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        assert exit_code_of(_look_for_room, Path(folder)) == 0
