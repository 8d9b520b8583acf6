"""The rules of advice."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from ..numbers.checks import require

# How much little known entries are tried: not at all, as far as it pays, or as far as it may pay.
Explore = Literal["off", "some", "full"]
EXPLORE: Final[tuple[Explore, ...]] = get_args(Explore)


@dataclass(frozen=True)
class AdviceRules:
    """The rules of counting advice.

    Attributes:
        max_runs: maximum number of a project's runs that advice is counted from; those that ended
            last count.
    """

    max_runs: int = 10_000

    def __post_init__(self) -> None:
        require(1 <= self.max_runs <= 1_000_000, "max_runs must lie in 1..1000000")
