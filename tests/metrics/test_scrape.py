"""What a scrape of a real front door shows, after a real worker has learnt something."""

import re
import shutil
import subprocess

import pytest

from tests.metrics.running import FAILED, GOOD, UNKNOWN
from tests.metrics.scraped import Scrape


def test_outcomes_by_project_and_verdict(scrape: Scrape) -> None:
    """As they are on record."""
    for verdict, number in (("success", GOOD), ("failure", FAILED), ("unknown", UNKNOWN)):
        assert scrape.value("trackrecord_outcomes", project="default", verdict=verdict) == number


def test_the_flow(scrape: Scrape) -> None:
    """Nothing waits, one letter is dead, one worker process is alive."""
    assert scrape.value("trackrecord_waiting_entries") == 0
    assert scrape.value("trackrecord_pending_entries") == 0
    assert scrape.value("trackrecord_oldest_entry_age_seconds") == 0
    assert scrape.value("trackrecord_dead_letters") == 1
    assert scrape.value("trackrecord_workers") == 1
    assert scrape.value("trackrecord_spooled_entries") == 0
    for server in ("database", "redis"):
        assert scrape.value("trackrecord_server_up", server=server) == 1


def test_what_workers_count(scrape: Scrape) -> None:
    """Entries by what became of them, batches, consolidations, outages."""
    learnt, refused = "trackrecord_entries_learnt_total", "trackrecord_entries_refused_total"
    assert scrape.value(learnt, result="recorded") == GOOD + FAILED + UNKNOWN
    assert scrape.value(refused, reason="invalid") == 1
    assert scrape.value("trackrecord_batch_duration_seconds_count") >= 1
    assert scrape.value("trackrecord_batch_duration_seconds_sum") > 0
    assert scrape.value("trackrecord_consolidations_total", ending="finished") >= 1
    assert scrape.value("trackrecord_outages_total", server="database") == 0


def test_names_follow_the_conventions(scrape: Scrape) -> None:
    """A prefix, base units, `_total` for counters and for nothing else."""
    for name, kind in scrape.kinds.items():
        assert re.fullmatch(r"trackrecord_[a-z_]+", name)
        assert name.endswith("_total") == (kind == "counter"), name
        assert not re.search(r"_(ms|milliseconds|kb|mb|minutes|hours)(_|$)", name)
    for name in scrape.kinds:
        if "duration" in name or "_age" in name or "timestamp" in name:
            assert "_seconds" in name


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_has_nothing_to_say(scrape: Scrape) -> None:
    """Prometheus' own check of names, help texts and kinds."""
    checked = subprocess.run(
        ["promtool", "check", "metrics"],  # noqa: S607 - wherever it is installed
        input=scrape.text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
