"""The rates of competence records: the baseline of verdicts."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ...competences.rules import CompetenceRules
from ..runs import Run

# A record that never failed is not certain: 2% are left.
_LEAST: Final = 0.02


class SeedRates:
    """The success rate of each procedure that has a competence record.

    Args:
        runs: what the records are made from.
        rules: from how many successes on a procedure has a record.
    """

    def __init__(self, runs: Iterable[Run], rules: CompetenceRules) -> None:
        self._runs: Counter[frozenset[str]] = Counter()
        self._successes: Counter[frozenset[str]] = Counter()
        for run in runs:
            procedure = frozenset(run.order)
            self._runs[procedure] += 1
            self._successes[procedure] += run.success
        self._from = rules.min_successes

    def rate(self, run: Run) -> float | None:
        """Return the success rate of the record of a run's procedure; None without a record."""
        procedure = frozenset(run.order)
        successes = self._successes[procedure]
        if not procedure or successes < self._from:
            return None
        return min(1 - _LEAST, max(_LEAST, successes / self._runs[procedure]))
