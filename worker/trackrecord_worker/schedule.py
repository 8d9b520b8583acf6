"""The schedule of beat: intervals by the monotonic clock, the nightly job by the wall clock."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery
from celery.schedules import ParseException, crontab, schedstate, schedule
from celery.utils.time import remaining

from trackrecord.errors import SettingsError
from trackrecord.settings.daemon_settings import DaemonSettings

from .wake_ups import CONSOLIDATE, wake_ups

# A clock that is set is noticed within this time.
_LOOK_AT_CLOCK_EVERY_S = 30.0
# More than what no process takes for a clock that was set.
_EARLY = timedelta(seconds=10)


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
        if self._counts_from > now and self._passed() >= self._interval() / 2:
            self._counts_from = now
        is_due, wait_s = super().is_due(self._counts_from)
        return schedstate(is_due, min(float(wait_s), _LOOK_AT_CLOCK_EVERY_S))

    def _passed(self) -> timedelta:
        return timedelta(seconds=self._monotonic() - self._noted_at)

    def _interval(self) -> timedelta:
        start, until_next, _ = self.remaining_delta(self._counts_from)
        return remaining(start, until_next, now=start)


def beat_schedule(settings: DaemonSettings) -> dict[str, dict[str, Any]]:
    """Return the schedule in beat's form.

    Raises:
        SettingsError: the crontab cannot be read.
    """
    entries = {name: _every(*each) for name, each in wake_ups(settings).items()}
    entries["consolidate"] = {
        "task": CONSOLIDATE,
        "schedule": parse_crontab(settings.consolidation_crontab),
    }
    return entries


def until_next(schedule: crontab, night_began: datetime | None) -> float:
    """Return in how many seconds the next night is due, after one that has just been, if any.

    That one may have begun some seconds early: clocks are corrected by a little all the time.
    """
    after = schedule.maybe_make_aware(schedule.now())
    if night_began is not None:
        after = max(after, night_began + _EARLY)
    return max(0.0, schedule.remaining_estimate(after).total_seconds())


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


def _every(task: str, seconds: float) -> dict[str, Any]:
    return {"task": task, "schedule": schedule(seconds, nowfun=_steady_now)}


def _steady_now() -> datetime:
    """Return the monotonic clock in the form of Celery's schedules; only differences count."""
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=time.monotonic())
