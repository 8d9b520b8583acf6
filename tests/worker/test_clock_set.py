"""The clock on the wall is set while everything runs: what is due is due all the same."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.working import body, changed, learn, log_lines, process, publish, until
from trackrecord.learning.text.times import believed_age
from trackrecord.prompt.reading.cache import (
    ADVICE_COMPUTED_AT,
    COMPUTED_AT,
    cached_advice,
    cached_ages,
)
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_worker.app import create_app
from trackrecord_worker.learning.stream import OutcomeStream
from trackrecord_worker.schedule import SteadyCrontab
from trackrecord_worker.up.daemon import beat_command, worker_command

HOUR = 3600.0
DAY = 24 * HOUR
# Of the worker, and of beat.
SHIFTS = ((0.0, 0.0), (-DAY, -DAY), (-DAY - HOUR, -DAY), (0.0, 365 * DAY), (0.0, -HOUR))
# More than the wake-ups that may be on their way.
OUTCOMES_A_SHIFT = 5
EVENING = datetime(2026, 11, 20, 18, tzinfo=UTC)


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """By how many seconds the clock of the processes that the test starts is wrong."""
    file = tmp_path / "shift"
    file.write_text("0")
    monkeypatch.setenv("SHIFTED_CLOCK", str(file))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "shifted_clock"))
    return file


def set_clock(file: Path, seconds: float) -> None:
    """Set the clock of the processes, in one step."""
    new = file.with_suffix(".new")
    new.write_text(str(seconds))
    new.replace(file)


@pytest.mark.faults
def test_outcomes_are_learnt_whatever_the_clock_shows(client, settings, clock, tmp_path):
    """Also when the clocks of beat and of the worker differ, as on two machines.

    A drain ends at once, so that an outcome needs a wake-up of its own; the first ones after the
    clock was set may have those that were sent before.
    """
    log = tmp_path / "log"
    settings = load_settings(home=settings.home, drain_block_s=0.01, worker_concurrency=1)

    def is_learnt() -> bool:
        return not client.xlen(settings.keys.outcomes)

    apart = tmp_path / "apart"
    apart.write_text("0")
    with process(worker_command(settings), settings, log):
        os.environ["SHIFTED_CLOCK"] = str(apart)  # put back by the fixture
        with process(beat_command(settings), settings, log) as beat:
            number = 0
            for of_worker, of_beat in SHIFTS:
                set_clock(clock, of_worker)
                set_clock(apart, of_beat)
                for _ in range(OUTCOMES_A_SHIFT):
                    publish(client, settings, body(number))
                    until(is_learnt)
                    number += 1
            assert beat.poll() is None
    learnt = sum(line.get("recorded", 0) for line in log_lines(log, "learnt"))
    assert learnt == number


def test_caches_from_the_future_are_made_anew(worker, store_settings):
    """Rankings and advice of before the clock was set back do not stay until it has caught up."""
    learn(worker, body(1))
    worker.refresher.refresh_stale()
    assert worker.adviser.advise_due() == 1
    key = store_settings.keys.rankings("default")
    assert worker.refresher.refresh_stale() == 0
    for field in (COMPUTED_AT, ADVICE_COMPUTED_AT):
        at = float(worker.redis.hget(key, field) or 0)
        worker.redis.hset(key, field, at + DAY)
    assert worker.refresher.refresh_stale() == 1
    assert worker.adviser.advise_due() == 1
    now = at + HOUR
    for read in (cached_ages, cached_advice):
        assert 0 < read(worker.redis, store_settings, ["default"], now=now)["default"].age_s < DAY


def test_pending_entries_are_taken_over_after_redis_clock_was_set_back(worker_of, store_settings):
    """Redis says of a dead worker's entries that they were read just now, until it has caught up.

    The time that was noted is moved instead of the clock; without a jump nothing is taken over.
    """
    settings = changed(store_settings, claim_idle_s=999)
    dead, living = worker_of(settings), worker_of(settings)
    publish(dead.redis, settings, body(1))
    stream = OutcomeStream(dead.redis, settings.keys)
    stream.ensure_group()
    assert len(stream.read_new(10, None)) == 1
    assert living.drain.take_over()["recorded"] == 0
    noted = int(living.redis.get(settings.keys.clock) or 0)
    living.redis.set(settings.keys.clock, noted + int(DAY))
    assert living.drain.take_over()["recorded"] == 1
    assert living.redis.xlen(settings.keys.outcomes) == 0


@given(st.floats(-1e9, 1e9))
def test_an_age_is_believed_within_the_difference_of_two_clocks(age_s):
    """No age is negative by more than a minute; one that is has no end."""
    assert believed_age(age_s) >= min(age_s, -60.0)
    assert (believed_age(age_s) == float("inf")) == (age_s < -60.0)


class Nights:
    """Beat's nightly job under two clocks: one that can be set, and one that cannot."""

    # Beat looks twice a minute; to be quicker, every ten minutes.
    hurry = 20.0

    def __init__(self, settings: Settings) -> None:
        self.wall = EVENING
        self.passed_s = 0.0
        self.ran: list[float] = []
        self.crontab = SteadyCrontab(
            minute="0", hour="3", app=create_app(settings),
            nowfun=lambda: self.wall, monotonic=lambda: self.passed_s,
        )  # fmt: skip
        self.longest_wait_s = 0.0
        self._last_run_at = self.wall

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and look as often as it wants whether the night is due."""
        end = self.passed_s + seconds
        while self.passed_s < end:
            wait_s = self._look()
            step = min(max(wait_s, 1.0) * self.hurry, end - self.passed_s)
            self.longest_wait_s = max(self.longest_wait_s, wait_s)
            self.passed_s += step
            self.wall += timedelta(seconds=step)

    def set_clock(self, seconds: float) -> None:
        """Set the clock on the wall forward, or back."""
        self.wall += timedelta(seconds=seconds)

    def _look(self) -> float:
        """Run the job if it is due; return in how many seconds to look again."""
        is_due, wait_s = self.crontab.is_due(self._last_run_at)
        if is_due:
            self.ran.append(self.passed_s)
            self._last_run_at = self.wall
        return wait_s


@pytest.mark.parametrize("back_s", [0.0, 60.0, HOUR, 2 * HOUR])
def test_a_night_does_not_come_twice(settings, back_s):
    """An hour that the clock shows again, after the job ran in it, is the same night."""
    nights = Nights(settings)
    nights.pass_time(9.5 * HOUR)
    assert len(nights.ran) == 1
    nights.set_clock(-back_s)
    nights.pass_time(12 * HOUR)
    assert len(nights.ran) == 1
    nights.pass_time(14 * HOUR)
    assert len(nights.ran) == 2


@given(st.lists(st.floats(-400 * DAY, 400 * DAY), max_size=3), st.floats(0, 2 * DAY))
def test_the_job_goes_on_whatever_the_clock_shows(shifts, between_s):
    """Within a day and a half of the clock's last setting, and never twice within half a day.

    Except that a clock that is set forward makes the night come sooner.
    """
    nights = Nights(Settings())
    for shift in shifts:
        nights.pass_time(between_s)
        nights.set_clock(shift)
    before, since = len(nights.ran), nights.passed_s
    nights.pass_time(37 * HOUR)
    assert len(nights.ran) > before, "no night within 37 hours"
    assert nights.longest_wait_s <= 60.0
    after = [at for at in nights.ran[before:] if at > since + HOUR]
    assert all(later - first > 11 * HOUR for first, later in pairwise(after))


def test_the_shifted_clock_is_shifted(clock):
    """Else the test above would pass whatever beat did."""
    set_clock(clock, -DAY)
    script = "import time, datetime as d; print(time.time(), d.datetime.now(d.UTC).timestamp())"
    said = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout
    expected = datetime.now(UTC).timestamp() - DAY
    assert all(abs(float(each) - expected) < HOUR for each in said.split())
