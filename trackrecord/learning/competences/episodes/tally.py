"""Tally: the sums over the episodes of one signature."""

from collections import Counter
from dataclasses import dataclass, field, fields

import msgspec

# (tool, argument, JSON type)
Argument = tuple[str, str, str]
Order = tuple[str, ...]


class Episode(msgspec.Struct, frozen=True, gc=False):
    """The part of one recorded outcome that consolidation uses.

    Attributes:
        order: the tools in the order in which they were used.
        success: whether the task reached its goal.
        ended_at: when it ended, seconds since the epoch.
        duration_ms: how long it took, where that is known.
        arguments: those of every call; empty for failed episodes.
        signal: the signal of the task's trigger.
        conditions: the conditions of that trigger, as canonical JSON.
        failure_mode: how it failed; set for failed episodes only.
        speaker: whose word it is.
    """

    order: Order
    success: bool
    ended_at: float
    duration_ms: int | None = None
    arguments: tuple[Argument, ...] = ()
    signal: str | None = None
    conditions: str | None = None
    failure_mode: str | None = None
    speaker: str = ""


@dataclass(slots=True)
class EpisodeTally:
    """Sums over the episodes of one signature; the order in which they are added never matters.

    Attributes:
        successes: successful episodes.
        failures: failed ones.
        latency_sum_ms: the sum of the durations that are known.
        latency_count: how many are known.
        last_used_at: when the last of the episodes ended.
        orders: successful episodes by the order in which their tools were used.
        arguments: calls in successful episodes by argument.
        trigger_successes: successful episodes by trigger signal.
        trigger_failures: failed ones by trigger signal.
        conditions: episodes by trigger signal and its conditions.
        failure_modes: failed episodes by failure mode.
        speakers: successful episodes by speaker.
        failed_speakers: failed ones by speaker.
    """

    successes: int = 0
    failures: int = 0
    latency_sum_ms: int = 0
    latency_count: int = 0
    last_used_at: float | None = None
    orders: Counter[Order] = field(default_factory=Counter)
    arguments: Counter[Argument] = field(default_factory=Counter)
    trigger_successes: Counter[str] = field(default_factory=Counter)
    trigger_failures: Counter[str] = field(default_factory=Counter)
    conditions: Counter[tuple[str, str]] = field(default_factory=Counter)
    failure_modes: Counter[str] = field(default_factory=Counter)
    speakers: Counter[str] = field(default_factory=Counter)
    failed_speakers: Counter[str] = field(default_factory=Counter)

    @property
    def episodes(self) -> int:
        """All episodes, successful and failed."""
        return self.successes + self.failures

    def add(self, episode: Episode) -> None:
        """Add one episode."""
        if episode.success:
            self.successes += 1
            self.orders[episode.order] += 1
            self.arguments.update(episode.arguments)
            self.speakers[episode.speaker] += 1
        else:
            self.failures += 1
            self.failed_speakers[episode.speaker] += 1
        if episode.duration_ms is not None:
            self.latency_sum_ms += episode.duration_ms
            self.latency_count += 1
        self._add_use(episode.ended_at)
        if episode.signal is not None:
            by_signal = self.trigger_successes if episode.success else self.trigger_failures
            by_signal[episode.signal] += 1
            if episode.conditions is not None:
                self.conditions[episode.signal, episode.conditions] += 1
        if episode.failure_mode is not None:
            self.failure_modes[episode.failure_mode] += 1

    def take_back(self, episode: Episode) -> None:
        """Subtract one episode; the caller finds when the last of the others ended."""
        other = EpisodeTally()
        other.add(episode)
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) - getattr(other, name))
        for name in _COUNTS:
            # Not with `-=`, which drops what falls to nothing or below.
            getattr(self, name).subtract(getattr(other, name))

    def merge(self, other: "EpisodeTally") -> None:
        """Add everything that another tally of the same signature holds."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _COUNTS:
            getattr(self, name).update(getattr(other, name))
        if other.last_used_at is not None:
            self._add_use(other.last_used_at)

    def _add_use(self, at: float) -> None:
        if self.last_used_at is None or at > self.last_used_at:
            self.last_used_at = at


_NUMBERS = ("successes", "failures", "latency_sum_ms", "latency_count")
_COUNTS = tuple(
    each.name for each in fields(EpisodeTally) if each.name not in (*_NUMBERS, "last_used_at")
)
