"""Divert an agent's reports to a test, before any thread or server is involved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trackrecord.process.scoped import Scoped

if TYPE_CHECKING:
    from ..capture import Captured

diversions: Final[Scoped[Captured]] = Scoped("trackrecord_diversion")


def current_diversion() -> Captured | None:
    """Return the diversion that takes reports here; None if they go their usual way."""
    return diversions.get()
