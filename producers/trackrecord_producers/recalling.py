"""Which memories were handed out in this process today, so that each is reported once a day."""

import time
from collections.abc import Iterable
from typing import Final

_DAY_S: Final = 86_400
# What is forgotten is reported once more, which does no harm.
_MOST_REMEMBERED: Final = 10_000


class HandedToday:
    """The memories that this process has reported today; a forked child goes on from there."""

    def __init__(self) -> None:
        self._day = 0
        self._seen: set[tuple[str, str]] = set()

    def new(self, project: str, memories: Iterable[str]) -> list[str]:
        """Return the memories that were not handed out today, and note that they are now."""
        today = int(time.time() // _DAY_S)
        if today != self._day or len(self._seen) > _MOST_REMEMBERED:
            # Not cleared: another thread may be reading it.
            self._day, self._seen = today, set()
        found = [name for name in memories if (project, name) not in self._seen]
        self._seen.update((project, name) for name in found)
        return found
