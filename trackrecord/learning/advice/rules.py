"""The rules of advice."""

from typing import Final, Literal, get_args

# How much little known entries are tried: not at all, as far as it pays, or as far as it may pay.
Explore = Literal["off", "some", "full"]
EXPLORE: Final[tuple[Explore, ...]] = get_args(Explore)
# Of a project's runs, advice is counted from those that ended last.
MAX_RUNS: Final = 10_000
