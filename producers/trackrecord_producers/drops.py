"""Outcomes that were lost on the way, counted by reason."""

import re
import threading
from typing import Final, Literal

from .notices import Notices

Reason = Literal[
    "invalid", "queue_full", "spool_full", "spool_error", "bad_settings", "internal_error"
]

_WHAT_TO_DO: dict[Reason, str] = {
    "invalid": "they are not as the wire format describes them; correct the call",
    "queue_full": "they come faster than they can be written, or the writer hangs; "
    "publish less at once or raise TRACKRECORD_QUEUE_MAX and TRACKRECORD_QUEUE_MAX_BYTES",
    "spool_full": "Redis is away and the spool is full; "
    "start Redis or raise TRACKRECORD_SPOOL_MAX_BYTES",
    "spool_error": "Redis is away and the spool cannot be written; "
    "make room, or let TRACKRECORD_HOME be a folder that can be written to",
    "bad_settings": "trackrecord's settings are wrong; correct them and start again",
    "internal_error": "something unforeseen happened in trackrecord; please report it",
}
# Sizes and places are told, and make no kind of their own.
_NUMBER: Final = re.compile(r"\d+")
_MOST_KINDS: Final = 50


class Drops:
    """Counts of dropped outcomes; each kind of them is also logged, now and then.

    Args:
        notices: where the log lines go.
    """

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._lock = threading.RLock()
        self._counts: dict[str, int] = {}
        self._kinds: set[str] = set()

    def count(self, reason: Reason, number: int = 1, *, detail: str = "") -> None:
        """Note that outcomes were dropped.

        Args:
            reason: why.
            number: how many.
            detail: what exactly was wrong; nothing of an outcome's content.
        """
        if number <= 0:
            return
        with self._lock:
            total = self._counts.get(reason, 0) + number
            self._counts[reason] = total
            kind = self._kind(reason, detail)
        what = f" ({detail})" if detail else ""
        message = f"dropped {total} outcomes so far as {reason}{what}: {_WHAT_TO_DO[reason]}"
        self._notices.say(kind, message)

    def _kind(self, reason: Reason, detail: str) -> str:
        """Return what is said once: each mistake has a line of its own, up to a number of them."""
        kind = f"{reason} {_NUMBER.sub('#', detail)}"
        if kind not in self._kinds and len(self._kinds) >= _MOST_KINDS:
            return reason
        self._kinds.add(kind)
        return kind

    def by_reason(self) -> dict[str, int]:
        """How many were dropped, for each reason that occurred."""
        with self._lock:
            return dict(self._counts)
