"""Rates at which outcomes arrive and are learnt, from two readings of the status."""

from trackrecord.resources.declaration.resource import Answer

from .status import StatusAnswer


class FlowRates(Answer, frozen=True):
    """Outcomes per second between two readings.

    Attributes:
        arriving_per_s: how many came onto the stream.
        learnt_per_s: how many came on record.
    """

    arriving_per_s: float
    learnt_per_s: float


def flow_rates(before: StatusAnswer, after: StatusAnswer, seconds: float) -> FlowRates:
    """Return the rates between two readings of the same counts.

    Args:
        before: the earlier reading.
        after: the later one.
        seconds: how much later, above 0.
    """
    learnt = after.outcomes - before.outcomes
    arrived = learnt + _on_the_way(after) - _on_the_way(before)
    return FlowRates(max(0, arrived) / seconds, max(0, learnt) / seconds)


def _on_the_way(status: StatusAnswer) -> int:
    """Return the entries that came onto the stream and are not learnt."""
    return status.waiting + status.pending + status.dead_letters
