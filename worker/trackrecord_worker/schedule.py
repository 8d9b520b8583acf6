"""The schedule of beat."""

from typing import Any, Final

from celery import Celery
from celery.schedules import ParseException, crontab

from trackrecord.errors import SettingsError
from trackrecord.settings import Settings

DRAIN_TASK: Final = "trackrecord.drain"

_DRAIN_EVERY_S = 1.0
_FORWARD_EVERY_S = 2.0
_REFRESH_EVERY_S = 5.0
_PAST_TASKS_EVERY_S = 5.0
_ADVISE_EVERY_S = 2.0
_EMBED_EVERY_S = 5.0
_NEWS_EVERY_S = 5.0
_CLAIM_EVERY_S = 10.0
_CATCH_UP_EVERY_S = 300.0


def beat_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the schedule in beat's form.

    Raises:
        SettingsError: the crontab cannot be read.
    """
    schedule = {
        "drain": _every(DRAIN_TASK, _DRAIN_EVERY_S),
        "forward": _every("trackrecord.forward", _FORWARD_EVERY_S),
        "refresh": _every("trackrecord.refresh", _REFRESH_EVERY_S),
        "past-tasks": _every("trackrecord.past_tasks", _PAST_TASKS_EVERY_S),
        "advise": _every("trackrecord.advise", _ADVISE_EVERY_S),
        "claim": _every("trackrecord.claim", _CLAIM_EVERY_S),
        "catch-up": _every("trackrecord.catch_up", _CATCH_UP_EVERY_S),
        "consolidate": {
            "task": "trackrecord.consolidate",
            "schedule": parse_crontab(settings.consolidation_crontab),
        },
    }
    if settings.notify.channels:
        schedule["news"] = _every("trackrecord.news", _NEWS_EVERY_S)
    if settings.embeddings.url is not None:
        schedule["embed"] = _every("trackrecord.embed", _EMBED_EVERY_S)
    return schedule


def parse_crontab(expression: str, app: Celery | None = None) -> crontab:
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
        return crontab(**dict(zip(names, fields, strict=True)), app=app)
    except (ValueError, ParseException) as error:
        message = f"setting consolidation_crontab: {expression!r} is not a crontab ({error})"
        raise SettingsError(message) from None


def _every(task: str, seconds: float) -> dict[str, Any]:
    # A wake-up that no worker took within its interval is superfluous.
    return {"task": task, "schedule": seconds, "options": {"expires": seconds}}
