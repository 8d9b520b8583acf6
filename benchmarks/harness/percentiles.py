"""Percentiles of timings."""

from collections.abc import Sequence
from math import ceil


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of all values does not exceed.

    Args:
        values: in any order, at least one.
        share: 0..1, 0.99 for the 99th percentile.
    """
    ranked = sorted(values)
    return ranked[max(0, ceil(share * len(ranked)) - 1)]
