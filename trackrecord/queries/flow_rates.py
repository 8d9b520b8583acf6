"""Rates at which outcomes arrive and are learnt, from two readings of the status."""

from dataclasses import dataclass
from typing import Any

from .status import StatusReport


@dataclass(frozen=True)
class FlowRates:
    """Outcomes per second between two readings.

    Attributes:
        arriving: how many came onto the stream.
        learnt: how many came on record.
    """

    arriving: float
    learnt: float

    def to_document(self) -> dict[str, Any]:
        """Return the rates as a JSON object."""
        return {"arriving_per_s": self.arriving, "learnt_per_s": self.learnt}


def flow_rates(before: StatusReport, after: StatusReport, seconds: float) -> FlowRates:
    """Return the rates between two readings of the same counts.

    Args:
        before: the earlier reading.
        after: the later one.
        seconds: how much later, above 0.
    """
    learnt = after.outcomes - before.outcomes
    arrived = learnt + _on_the_way(after) - _on_the_way(before)
    return FlowRates(max(0, arrived) / seconds, max(0, learnt) / seconds)


def _on_the_way(status: StatusReport) -> int:
    """Return the entries that came onto the stream and are not learnt."""
    return status.waiting + status.pending + status.dead_letters
