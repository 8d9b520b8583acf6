"""The schedule of beat: intervals by the monotonic clock, the nightly job by the wall clock."""

import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery
from celery.beat import BeatLazyFunc
from celery.schedules import ParseException, crontab, schedstate, schedule
from celery.utils.time import remaining

from trackrecord.errors import SettingsError
from trackrecord.settings.daemon_settings import DaemonSettings

from .job_table import CONSOLIDATE, DRAIN, JOBS, UPKEEP, Job, turn_s

# A clock that is set is noticed within this time.
_LOOK_AT_CLOCK_EVERY_S = 30.0
# Before any moment of the clock that is never set, in the form of Celery's schedules.
_LONG_AGO = datetime.fromtimestamp(0, UTC) - timedelta(days=1)
# Beat looks a little early or late; what is due by then need not wait for its next look.
_NEARLY_S = 0.5


class SteadyCrontab(crontab):
    """A crontab that survives changes of the clock: no run comes twice, and none is long overdue.

    After the clock was set back to before the last run, the next run is the one after the time that
    the clock then shows, once half an interval has really passed since the last run: a clock set
    back by an hour repeats nothing, and one set back by a year does not wait for a year.

    Args:
        monotonic: a clock that is never set, in seconds.
        **fields: as Celery's crontab takes them.
    """

    def __init__(
        self,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        **fields: Any,  # noqa: ANN401 - Celery's signature
    ) -> None:
        super().__init__(**fields)
        self._monotonic = monotonic
        self._last_run_at: datetime | None = None
        self._counts_from = datetime.min.replace(tzinfo=UTC)
        self._noted_at = 0.0

    def is_due(self, last_run_at: datetime) -> schedstate:
        """Return whether a run is due, and in how many seconds to look again."""
        last_run_at = self.maybe_make_aware(last_run_at)
        if last_run_at != self._last_run_at:
            self._last_run_at = self._counts_from = last_run_at
            self._noted_at = self._monotonic()
        now = self.maybe_make_aware(self.now())
        passed = timedelta(seconds=self._monotonic() - self._noted_at)
        if self._counts_from > now and passed >= self._interval() / 2:
            self._counts_from = now
        is_due, wait_s = super().is_due(self._counts_from)
        return schedstate(is_due, min(float(wait_s), _LOOK_AT_CLOCK_EVERY_S))

    def _interval(self) -> timedelta:
        start, until_next, _ = self.remaining_delta(self._counts_from)
        return remaining(start, until_next, now=start)


def beat_schedule(settings: DaemonSettings) -> dict[str, dict[str, Any]]:
    """Return the schedule in beat's form.

    Raises:
        SettingsError: the crontab cannot be read.
    """
    wanted = [job for job in JOBS if job.is_wanted(settings)]
    upkeep = [job for job in wanted if job.is_upkeep]
    entries = {
        job.name: _steadily(job.name, job.every_s)
        for job in wanted
        if not job.is_upkeep and job.every_s is not None
    }
    draining = {DRAIN: _steadily(DRAIN, turn_s(settings))}
    nightly = {"task": CONSOLIDATE, "schedule": parse_crontab(settings.consolidation_crontab)}
    often_s = min(job.every_s for job in upkeep if job.every_s is not None)
    together = _steadily(UPKEEP, often_s) | {"args": (BeatLazyFunc(DueJobs(upkeep).take),)}
    return entries | draining | {CONSOLIDATE: nightly, UPKEEP: together}


class DueJobs:
    """The jobs that are due together, by a clock that is never set.

    Args:
        jobs: all of them.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._due_at = dict.fromkeys(jobs, -math.inf)

    def take(self) -> list[str]:
        """Return the names of those that are due; they are due again after their interval."""
        now = time.monotonic()
        due = [job for job, due_at in self._due_at.items() if due_at <= now + _NEARLY_S]
        self._due_at |= {job: now + (job.every_s or 0.0) for job in due}
        return [job.name for job in due]


def parse_crontab(expression: str, app: Celery | None = None) -> SteadyCrontab:
    """Parse a crontab from five fields: minute, hour, day of month, month, day of week.

    Raises:
        SettingsError: it cannot be read.
    """
    fields = expression.split()
    names = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
    try:
        if len(fields) != len(names):
            message = f"five fields are needed, not {len(fields)}"
            raise ValueError(message)
        given: dict[str, Any] = dict(zip(names, fields, strict=True))
        return SteadyCrontab(**given, app=app)
    except (ValueError, ParseException) as error:
        message = f"setting consolidation_crontab: {expression!r} is not a crontab ({error})"
        raise SettingsError(message) from None


def _steadily(task: str, seconds: float) -> dict[str, Any]:
    """Return the entry of a task that is due at once, and then again and again."""
    steady = schedule(seconds, nowfun=_steady_now)
    return {"task": task, "schedule": steady, "last_run_at": _LONG_AGO}


def _steady_now() -> datetime:
    """Return the monotonic clock in the form of Celery's schedules; only differences count."""
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=time.monotonic())
