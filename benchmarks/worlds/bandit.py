"""A fleet that follows its first recommendation: its regret, and whether it finds a new best.

Each task follows one of several strategies, whose true rates of success change once, half way
through. What was learnt is looked up in rounds, as many tasks are under way at a time. Regret is
the success that was lost against always following the best, divided by what random choices lose.
"""

import random
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.worlds.fleet_prompts import first_handed
from trackrecord.learning.advice.assignment import assign
from trackrecord.learning.advice.exploring import Prospect, order
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.learning.patterns.standing import PatternFacts, standing_of
from trackrecord.prompt.documents.presentation import is_recommended

_UNDER_WAY: Final = 10
_HALF_LIVES: Final = 6
# Nobody tells such rates apart within a half-life.
_AS_GOOD: Final = 0.03
_MATURITY, _ANTIPATTERNS = MaturityRules(), AntiPatternRules()


@dataclass(frozen=True)
class World:
    """A truth.

    Attributes:
        name: what it is called.
        rates: gives a seed's rates before and after the change, one for each strategy.
        per_half_life: tasks in one half-life.
        noise: the share of outcomes that are reported wrongly.
    """

    name: str
    rates: Callable[[random.Random], tuple[Sequence[float], Sequence[float]]]
    per_half_life: int = 900
    noise: float = 0.0


def _shuffled(*rates: float) -> Callable[[random.Random], tuple[Sequence[float], Sequence[float]]]:
    """Return a truth in which another strategy becomes the best."""

    def draw(chance: random.Random) -> tuple[Sequence[float], Sequence[float]]:
        before = chance.sample(rates, len(rates))
        after = before
        while after.index(max(after)) == before.index(max(before)):
            after = chance.sample(rates, len(rates))
        return before, after

    return draw


def _uniform(chance: random.Random) -> tuple[Sequence[float], Sequence[float]]:
    return _shuffled(*(chance.random() for _ in range(12)))(chance)


_DEMO = (0.95, 0.90, 0.80, 0.75, 0.45, 0.25, 0.15)

WORLDS: Final = (
    World("demo", _shuffled(*_DEMO)),
    World("uniform", _uniform, noise=0.1),
    World("hard", _shuffled(0.4, *[0.2] * 6)),
    World("close", _shuffled(0.7, 0.65, *[0.55] * 5)),
    World("few", _shuffled(*_DEMO), per_half_life=90),
)


@dataclass
class _Arm:
    """The evidence on one strategy."""

    helpful: float = 0.0
    harmful: float = 0.0
    successes: int = 0
    failures: int = 0


Choose = Callable[[Sequence[_Arm], int, int], Callable[[int], int]]


def _by_order(explore: Explore) -> Choose:
    """Draws alone: all strategies compete in each draw, without thresholds."""

    def choose(arms: Sequence[_Arm], seed: int, revision: int) -> Callable[[int], int]:
        prospects = [
            Prospect(str(place), 1.5 + arm.helpful, 1.5 + arm.harmful)
            for place, arm in enumerate(arms)
        ]
        known_best = int(order(prospects, None)[0])

        def of(task: int) -> int:
            assignment = assign(
                f"world-{seed}",
                task_id=str(task),
                task=None,
                revision=revision,
                holdout=0.0,
                explore=explore,
            )
            if assignment.seed is None:
                return known_best
            return int(order(prospects, assignment.seed, assignment.sharpness)[0])

        return of

    return choose


def _by_score(arms: Sequence[_Arm], seed: int, revision: int) -> Callable[[int], int]:
    """The rules of the ancestors: the best-scored pattern that is recommended."""
    best, found = -1.0, None
    for place, arm in enumerate(arms):
        if not arm.successes + arm.failures:
            continue
        evidence = Evidence(
            arm.successes,
            0,
            arm.failures,
            arm.helpful,
            arm.harmful,
            succeeded=arm.successes,
        )
        standing = standing_of(
            _MATURITY, _ANTIPATTERNS, PatternFacts(str(place), "named", "", None), evidence
        )
        if is_recommended(standing) and standing.score > best:
            best, found = standing.score, place
    if found is not None:
        recommended = found
        return lambda _task: recommended
    chance = random.Random(f"{seed}/{revision}")
    return lambda _task: chance.randrange(len(arms))


POLICIES: Final[dict[str, Choose]] = {
    "by score": _by_score,
    "off": first_handed("off"),
    "some": first_handed("some"),
    "full": first_handed("full"),
    "by order": _by_order("some"),
}


@dataclass(frozen=True)
class Played:
    """The result of one policy in one world.

    Attributes:
        regret: what it lost, divided by what random choices lose.
        recovered: half-lives after the change from when on the new best was mostly followed; None
            if it never was.
    """

    regret: float
    recovered: float | None


def play(world: World, choose: Choose, seed: int) -> Played:
    """Let a fleet follow a policy in a world."""
    chance = random.Random(f"{world.name}/{seed}")
    before, after = world.rates(chance)
    arms = [_Arm() for _ in before]
    fading = 0.5 ** (_UNDER_WAY / world.per_half_life)
    tasks = _HALF_LIVES * world.per_half_life
    change = tasks // 2
    lost = by_chance = 0.0
    is_best = []
    for start in range(0, tasks, _UNDER_WAY):
        rates = before if start < change else after
        best, mean = max(rates), statistics.fmean(rates)
        chosen_by = choose(arms, seed, start)
        chosen = [chosen_by(task) for task in range(start, start + _UNDER_WAY)]
        for arm in arms:
            arm.helpful *= fading
            arm.harmful *= fading
        for place in chosen:
            lost += best - rates[place]
            by_chance += best - mean
            is_best.append(rates[place] >= best - _AS_GOOD)
            success = chance.random() < rates[place]
            if chance.random() < world.noise:
                success = not success
            arm = arms[place]
            if success:
                arm.helpful += 1.0
                arm.successes += 1
            else:
                arm.harmful += 1.0
                arm.failures += 1
    recovered = _recovery(is_best[change:], world.per_half_life)
    return Played(lost / by_chance, recovered)


def _recovery(is_best: Sequence[bool], per_half_life: int) -> float | None:
    """Return when, in half-lives, every further quarter of one mostly followed the best."""
    window = max(1, per_half_life // 4)
    starts = range(0, len(is_best) - window + 1, max(1, window // 5))
    mostly = [sum(is_best[start : start + window]) > window / 2 for start in starts]
    since = len(mostly)
    while since and mostly[since - 1]:
        since -= 1
    return None if since == len(mostly) else starts[since] / per_half_life


def rows(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Return the figures of each policy in each world.

    Args:
        seeds: one world each.
    """
    seeds = list(seeds)
    for world in WORLDS:
        for name, choose in POLICIES.items():
            played = [play(world, choose, seed) for seed in seeds]
            regrets = sorted(each.regret for each in played)
            found = sorted(each.recovered for each in played if each.recovered is not None)
            yield {
                "world": world.name,
                "policy": name,
                "seeds": len(seeds),
                "regret": statistics.fmean(regrets),
                "regret_least": regrets[0],
                "regret_most": regrets[-1],
                "recovery_median": statistics.median(found) if found else None,
                "never_recovered": len(seeds) - len(found),
            }
