"""The intervals of the tasks: for beat, and for the process that learns on one machine."""

from typing import Final, NamedTuple

from trackrecord.settings.daemon_settings import DaemonSettings

DRAIN: Final = "trackrecord.drain"
FORWARD: Final = "trackrecord.forward"
REFRESH: Final = "trackrecord.refresh"
ADVISE: Final = "trackrecord.advise"
CLAIM: Final = "trackrecord.claim"
CATCH_UP: Final = "trackrecord.catch_up"
CONSOLIDATE: Final = "trackrecord.consolidate"
NEWS: Final = "trackrecord.news"
EMBED: Final = "trackrecord.embed"

# All tasks, also those that these settings do not need: another process may have other settings.
TASKS: Final = (
    DRAIN, ADVISE, CATCH_UP, CLAIM, CONSOLIDATE, EMBED, FORWARD, NEWS, REFRESH,
)  # fmt: skip


class WakeUp(NamedTuple):
    """A task that is due again and again.

    Attributes:
        task: its name.
        every_s: the seconds between two runs.
    """

    task: str
    every_s: float


def wake_ups(settings: DaemonSettings) -> dict[str, WakeUp]:
    """Return what is due every few seconds, by the name of its entry; the nightly job is not."""
    entries = {
        "drain": WakeUp(DRAIN, 1.0),
        "forward": WakeUp(FORWARD, 2.0),
        "refresh": WakeUp(REFRESH, 5.0),
        "advise": WakeUp(ADVISE, 2.0),
        "claim": WakeUp(CLAIM, 10.0),
        "catch-up": WakeUp(CATCH_UP, 300.0),
    }
    if settings.notify.command:
        entries["news"] = WakeUp(NEWS, 5.0)
    if settings.embeddings.url is not None:
        entries["embed"] = WakeUp(EMBED, 5.0)
    return entries
