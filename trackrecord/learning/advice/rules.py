"""The rules of advice."""

from dataclasses import dataclass

from ..numbers.checks import require


@dataclass(frozen=True)
class AdviceRules:
    """What advice is counted from.

    Attributes:
        max_runs: maximum number of a project's runs that advice is counted from; those that ended
            last count.
    """

    max_runs: int = 20_000

    def __post_init__(self) -> None:
        require(1 <= self.max_runs <= 1_000_000, "max_runs must lie in 1..1000000")
