"""The number of outcomes that a few liars among honest sources need to reach their goal.

Each honest source reports four outcomes of a good pattern and four of a bad one, with tests. Liars
claim tests, too, and report in turn. Counted is the least number of outcomes, over all liars, from
which on their aim is reached; with caps off, a source counts as the product counted it before them.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from trackrecord.learning.numbers.speakers import CapRules, SpeakerCounts
from trackrecord.learning.patterns.evidence import Evidence, heard
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.learning.patterns.standing import PatternFacts, Standing, standing_of

_MATURITY, _ANTIPATTERNS = MaturityRules(), AntiPatternRules()
_GOOD, _BAD, _EACH = 0.9, 0.3, 4
_MOST: Final = 300
_NOW: Final = 1_780_000_000.0
# Liars, and all sources.
_CROWDS: Final = ((1, 50), (3, 50), (10, 50), (1, 10), (1, 3), (1, 1))
_MODES: Final = (("off", CapRules(source_share=1.0)), ("on", CapRules()))

Counts = dict[str, list[int]]


@dataclass(frozen=True)
class _World:
    """The reports of honest sources: successes and failures of each, by pattern."""

    liars: int
    good: Counts
    bad: Counts
    caps: CapRules

    def standing(self, honest: Counts, won: int = 0, lost: int = 0) -> Standing:
        """Return the standing of a pattern after liars reported so many successes and failures."""
        counts = dict(honest)
        for liar in range(self.liars):
            share = [each // self.liars + (liar < each % self.liars) for each in (won, lost)]
            if any(share):
                counts[f"liar-{liar}"] = share
        parts = [
            SpeakerCounts(
                helpful=helpful, harmful=harmful, decayed_helpful=helpful,
                decayed_harmful=harmful, speaker=speaker, succeeded=helpful,
            )
            for speaker, (helpful, harmful) in counts.items()
        ]  # fmt: skip
        helpful, harmful = (sum(each[place] for each in counts.values()) for place in (0, 1))
        evidence = Evidence(helpful, 0, harmful, helpful, harmful, succeeded=helpful)
        speaks = bool(self.good)
        return standing_of(
            _MATURITY,
            _ANTIPATTERNS,
            PatternFacts("p", "named", "p", None),
            heard(self.caps, evidence, parts if speaks else ()),
        )


def rows(seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the least numbers of outcomes: the median over the seeds, and their range.

    Args:
        seeds: of the honest sources' luck.
    """
    for liars, sources in _CROWDS:
        for mode, caps in _MODES:
            worlds = [_world(seed, liars, sources - liars, caps) for seed in seeds]
            yield {
                "liars": f"{liars} of {sources}",
                "caps": mode,
                **{aim: _figure(worlds, reached) for aim, reached in _AIMS.items()},
            }


def _world(seed: int, liars: int, honest: int, caps: CapRules) -> _World:
    chance = random.Random(seed)

    def reported(rate: float) -> Counts:
        found: Counts = {}
        for source in range(honest):
            won = sum(chance.random() < rate for _ in range(_EACH))
            found[f"honest-{source}"] = [won, _EACH - won]
        return found

    return _World(liars, reported(_GOOD), reported(_BAD), caps)


def _figure(worlds: Sequence[_World], reached: Callable[[_World, int], bool]) -> str:
    return _shown([_least(lambda count, own=each: reached(own, count)) for each in worlds])  # type: ignore[misc]


def _least(reached: Callable[[int], bool]) -> int | None:
    return next((count for count in range(1, _MOST + 1) if reached(count)), None)


def _shown(found: Sequence[int | None]) -> str:
    known = sorted(_MOST + 1 if each is None else each for each in found)
    low, middle, high = known[0], round(median(known)), known[-1]
    if low > _MOST:
        return "never"
    ends = f" ({low}-{'never' if high > _MOST else high})" if low < high else ""
    return f"{'never' if middle > _MOST else middle}{ends}"


def _above(world: _World, count: int) -> bool:
    """Return whether the bad pattern ranks above the good one, after liars split their reports."""
    if not world.good:
        return False
    bad = world.standing(world.bad, won=count - count // 2)
    good = world.standing(world.good, lost=count // 2)
    return not bad.is_inverted and (good.is_inverted or bad.score > good.score)


def _warned(world: _World, count: int) -> bool:
    return world.standing(world.good, lost=count).is_inverted


_AIMS: Final[dict[str, Callable[[_World, int], bool]]] = {
    "bad above good": _above,
    "good warned of": _warned,
}
