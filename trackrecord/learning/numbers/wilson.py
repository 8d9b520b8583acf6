"""Wilson's interval of a rate: how far few reports, or a lucky one, can be trusted.

Wilson (1927), "Probable inference, the law of succession, and statistical inference".
"""

from math import sqrt
from typing import Final

# The two-sided 95% quantile of the normal distribution.
Z: Final = 1.959963984540054
_Z2: Final = Z * Z


def wilson_interval(successes: float, failures: float) -> tuple[float, float]:
    """Return the 95% interval of a rate; (0, 1) without evidence.

    Args:
        successes: how many there were, which need not be whole: evidence decays.
        failures: how many there were, likewise.
    """
    total = successes + failures
    if total <= 0:
        return 0.0, 1.0
    # Multiplied out by the total, which may be as small as floats get.
    centre = successes + _Z2 / 2
    margin = Z * sqrt(successes * (failures / total) + _Z2 / 4)
    return max(0.0, (centre - margin) / (total + _Z2)), min(1.0, (centre + margin) / (total + _Z2))
