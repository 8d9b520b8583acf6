"""Dropped items, counted by reason."""

import re
import threading
from collections.abc import Mapping
from typing import Final, Generic, Literal, TypeVar

from trackrecord.errors import InvalidEntry, SettingsError

from .notices import Notices

Reason = Literal[
    "invalid", "queue_full", "spool_full", "spool_error", "bad_settings", "internal_error"
]
ReportReason = Literal[
    "invalid", "queue_full", "refused", "unsent", "bad_settings", "internal_error"
]
# The reasons that any background writer may count.
WriterReason = Literal["invalid", "queue_full", "bad_settings", "internal_error"]

_R = TypeVar("_R", bound=str, contravariant=True)

OUTCOME_ADVICE: dict[Reason, str] = {
    "invalid": "they do not match the wire format; correct the call",
    "queue_full": "they come faster than they can be written, or the writer hangs; "
    "publish less at once or raise TRACKRECORD_QUEUE_MAX and TRACKRECORD_QUEUE_MAX_BYTES",
    "spool_full": "Redis is away and the spool is full; "
    "start Redis or raise TRACKRECORD_SPOOL_MAX_BYTES",
    "spool_error": "Redis is away and the spool cannot be written; "
    "free disk space, or set TRACKRECORD_SPOOL_FOLDER to a folder on another disk",
    "bad_settings": "trackrecord's settings are wrong; correct them and start again",
    "internal_error": "an unexpected error happened in trackrecord; please report it",
}
REPORT_ADVICE: dict[ReportReason, str] = {
    "invalid": "they do not match the arguments of record_error; correct the call",
    "queue_full": "they come faster than Redis takes them, or Redis is away; start Redis",
    "refused": "Redis refuses them; look at its log",
    "unsent": "the process ended before Redis took them; start Redis",
    "bad_settings": OUTCOME_ADVICE["bad_settings"],
    "internal_error": OUTCOME_ADVICE["internal_error"],
}
# Sizes and places are logged, but do not make a kind of their own.
_NUMBER: Final = re.compile(r"\d+")
_MOST_KINDS: Final = 50


class Drops(Generic[_R]):
    """Counts of dropped items; each kind of drop is also logged, now and then.

    Args:
        notices: where the log lines go.
        what: the name of the items, in the plural.
        advice: for each reason, its cause and what to do about it.
    """

    def __init__(self, notices: Notices, what: str, advice: Mapping[_R, str]) -> None:
        self._notices = notices
        self._what = what
        self._advice = advice
        self._lock = threading.RLock()
        self._counts: dict[str, int] = {}
        self._kinds: set[str] = set()

    def count(self, reason: _R, number: int = 1, *, detail: str = "") -> None:
        """Count dropped items.

        Args:
            reason: the reason for the drop.
            number: how many.
            detail: the exact error, without any content of the items.
        """
        if number <= 0:
            return
        with self._lock:
            total = self._counts.get(reason, 0) + number
            self._counts[reason] = total
            kind = self._kind(reason, detail)
        more = f" ({detail})" if detail else ""
        message = f"dropped {total} {self._what} so far as {reason}{more}: {self._advice[reason]}"
        self._notices.say(kind, message)

    def _kind(self, reason: str, detail: str) -> str:
        """Return the kind of a log line: each mistake has its own, up to a maximum number."""
        kind = f"{reason} {_NUMBER.sub('#', detail)}"
        if kind not in self._kinds and len(self._kinds) >= _MOST_KINDS:
            return reason
        self._kinds.add(kind)
        return kind

    def by_reason(self) -> dict[str, int]:
        """Return how many were dropped, for each reason that occurred."""
        with self._lock:
            return dict(self._counts)

    def total(self) -> int:
        """Return how many were dropped, for all reasons."""
        with self._lock:
            return sum(self._counts.values())


def reason_of(error: Exception) -> tuple[WriterReason, str]:
    """Return why an item is dropped for an error, and the part of the error that may be logged."""
    if isinstance(error, InvalidEntry):
        return "invalid", str(error)
    if isinstance(error, SettingsError):
        return "bad_settings", str(error)
    return "internal_error", type(error).__name__
