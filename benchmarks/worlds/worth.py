"""Five worlds in which a fleet follows what it is told: the success that this is worth.

Each task follows the pattern that the product's text names first, as each baseline follows its own
best. Whoever has not tried a way at tasks of a kind tries it first; where nothing is told, or two
ways are as good, one is taken by lot. A way's worth is the share of successes above that of a fleet
that is told nothing, in points; it pays from the run after which all fleets together have won more.
"""

import random
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import sqrt
from statistics import fmean, pstdev, stdev
from typing import Any, Final

from msgspec import structs

from benchmarks.worlds.fleet_prompts import handed, standing_of_counts
from trackrecord.learning.advice.estimates.estimates import estimate
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.advice.runs.runs import Run
from trackrecord.learning.advice.tasks.task_index import build_index
from trackrecord.prompt.documents.advice_document import AdviceDocument, KindEntry, PastTasks
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.resources.prompt_documents.advice import expected_of, pattern_entries
from trackrecord.resources.prompt_documents.prompt_document import ranked_patterns

_NOW: Final = 1_790_000_000.0
_REFUND: Final = "refund the ticket of customer"
_REPAIR: Final = "repair the broken build of branch"


@dataclass(frozen=True)
class World:
    """A truth.

    Attributes:
        name: its name.
        rates: the rate of success of each way, by the text of a kind of task.
        after: the same once the first half of the tasks is over; the same rates if empty.
        rare: the share of tasks that are of the last kind; an equal share if 0.
        tasks: how many there are.
        under_way: after how many tasks what was learnt is looked up again.
    """

    name: str
    rates: Mapping[str, Sequence[float]]
    after: Mapping[str, Sequence[float]] = field(default_factory=dict)
    rare: float = 0.0
    tasks: int = 600
    under_way: int = 10


WORLDS: Final = (
    World("one best way", {_REFUND: (0.8, 0.5, 0.5, 0.4)}),
    World(
        "two kinds, opposite ways", {_REFUND: (0.8, 0.3, 0.5, 0.4), _REPAIR: (0.3, 0.8, 0.4, 0.5)}
    ),
    World("the best way changes", {_REFUND: (0.8, 0.3, 0.5, 0.4)}, {_REFUND: (0.3, 0.8, 0.5, 0.4)}),
    World("close ways", {_REFUND: (0.65, 0.6, 0.55, 0.55)}),
    World(
        "a rare kind",
        {_REFUND: (0.8, 0.3, 0.5, 0.4), _REPAIR: (0.3, 0.8, 0.4, 0.5)},
        rare=0.03,
        tasks=3000,
        under_way=50,
    ),
)


def _by_rate(newest: int = 0, *, is_by_kind: bool = True) -> Callable[[int], "Policy"]:
    """Return a baseline: the way that succeeded most often, of the newest runs or of all."""

    def policy(seed: int) -> Policy:
        told: defaultdict[tuple[str, int], list[bool]] = defaultdict(list)

        def learn(runs: Sequence[Run]) -> None:
            for run in runs:
                told[run.trigger if is_by_kind else "", int(run.patterns[0])].append(run.success)

        def choose(kind: str, _text: str, number: int, ways: int) -> int | None:
            seen = [told[kind if is_by_kind else "", way][-newest:] for way in range(ways)]
            rates = [fmean(each) if each else 0.0 for each in seen]
            # By its number, one of two would be taken for ever, and the other never be seen again.
            equals = [way for way, rate in enumerate(rates) if rate == max(rates)]
            return random.Random(f"{seed}/{number}").choice(equals)

        return Policy(learn, choose)

    return policy


@dataclass(frozen=True)
class Policy:
    """Advice as a fleet follows it.

    Attributes:
        learn: takes the runs of a round.
        choose: returns the way for a task of a kind; None for no advice.
    """

    learn: Callable[[Sequence[Run]], None]
    choose: Callable[[str, str, int, int], int | None]


def _product(explore: Explore) -> Callable[[int], Policy]:
    """Return what the product's texts say."""

    def policy(seed: int) -> Policy:
        runs: list[Run] = []
        documents: list[tuple[RankingsDocument, AdviceDocument]] = []

        def learn(more: Sequence[Run]) -> None:
            # Agents name no trigger here: kinds are found by the words of tasks.
            runs.extend(structs.replace(run, trigger="") for run in more)
            documents[:] = [_documents(f"worth-{seed}", runs)]

        def choose(_kind: str, text: str, number: int, _ways: int) -> int | None:
            if not documents:
                return None
            answer = handed(*documents[0], str(number), explore, task=text)
            return int(answer.told["patterns"][0].id) if answer.told["patterns"] else None

        return Policy(learn, choose)

    return policy


POLICIES: Final[Mapping[str, Callable[[int], Policy]]] = {
    "nothing": lambda _seed: Policy(lambda _runs: None, lambda *_: None),
    "last five": _by_rate(5),
    "table": _by_rate(is_by_kind=False),
    "table by kind": _by_rate(),
    "rankings": _product("off"),
    "rankings, exploring": _product("some"),
}


_BASELINES: Final = ("last five", "table", "table by kind")

_Fleets = Sequence[Sequence[tuple[str, bool]]]


def play(world: World, policy_of: Callable[[int], Policy], seed: int) -> list[tuple[str, bool]]:
    """Return the kind and the success of each task, in order."""
    chance = random.Random(f"{world.name}/{seed}")
    policy = policy_of(seed)
    kinds = list(world.rates)
    shares = [1.0 - world.rare, world.rare] if world.rare else [1.0] * len(kinds)
    # Equal ways are taken by their numbers: the best one must not always have the first.
    count = len(world.rates[kinds[0]])
    places = random.Random(f"{world.name}/{seed}/places").sample(range(count), count)
    tried: defaultdict[str, set[int]] = defaultdict(set)
    played: list[tuple[str, bool]] = []
    for start in range(0, world.tasks, world.under_way):
        rates = world.after if world.after and start >= world.tasks // 2 else world.rates
        batch = []
        for number in range(start, start + world.under_way):
            (kind,) = chance.choices(kinds, shares)
            luck, text, ways = chance.random(), f"{kind} c{number}", len(rates[kind])
            untried = sorted(set(range(ways)) - tried[kind])
            followed = untried[0] if untried else policy.choose(kind, text, number, ways)
            if followed is None:
                followed = random.Random(f"{seed}/{number}").randrange(ways)
            tried[kind].add(followed)
            success = luck < rates[kind][places[followed]]
            played.append((kind, success))
            batch.append(
                Run(
                    outcome=number,
                    task_id=str(number),
                    ended_at=_NOW + number,
                    success=success,
                    trigger=kind,
                    instruction=text,
                    patterns=(str(followed),),
                )
            )
        policy.learn(batch)
    return played


def _documents(project: str, runs: Sequence[Run]) -> tuple[RankingsDocument, AdviceDocument]:
    now = runs[-1].ended_at
    found = estimate(runs, now=now, half_life_days=90.0)
    standings = [
        standing_of_counts(slug, tally.successes, tally.runs - tally.successes)
        for slug, tally in found.counts.by_pattern.items()
    ]
    patterns, warnings, others = ranked_patterns(standings, lambda _slug, said, _language: said)
    rankings = RankingsDocument(
        project=project,
        revision=len(runs),
        computed_at=now,
        patterns=tuple(patterns),
        anti_patterns=tuple(warnings),
        others=tuple(others),
    )
    texts = sorted({run.instruction for run in runs[-200:]})
    kinds = [found.kinds.position_for(text) for text in texts]
    advice = AdviceDocument(
        project=project,
        revision=len(runs),
        computed_at=now,
        patterns=pattern_entries(found),
        kinds=tuple(
            KindEntry(name=name, expected=expected_of(found.kind(position)))
            for position, name in enumerate(found.kinds.names)
        ),
        past_tasks=PastTasks(
            index=build_index(texts),
            kinds=array("I", kinds).tobytes(),
            runs=tuple(() for _ in texts),
        ),
    )
    return rankings, advice


def rows(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Return what each policy is worth in each world, and at its rare kind of task.

    Args:
        seeds: one fleet each, at least two.
    """
    seeds = list(seeds)
    for world in WORLDS:
        told = {name: [play(world, of, seed) for seed in seeds] for name, of in POLICIES.items()}
        kinds = {"": None} | ({"at the rare kind": list(world.rates)[-1]} if world.rare else {})
        for where, kind in kinds.items():
            rates = {
                name: [
                    100 * fmean(won for each, won in fleet if kind in (None, each))
                    for fleet in fleets
                ]
                for name, fleets in told.items()
            }
            best = max(_BASELINES, key=lambda name: fmean(rates[name]))
            for name, each in rates.items():
                points, beside = _above(each, rates["nothing"]), _above(each, rates[best])
                yield {
                    "world": f"{world.name} {where}".rstrip(),
                    "policy": name,
                    "seeds": len(seeds),
                    "success": fmean(each) / 100,
                    "points": fmean(points),
                    "spread": pstdev(points),
                    "beside_best": fmean(beside),
                    "error": stdev(beside) / sqrt(len(seeds)),
                    "pays_from": _pays_from(told[name], told["nothing"], kind),
                }


def _above(rates: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(rates, others, strict=True)]


def _pays_from(fleets: _Fleets, without: _Fleets, kind: str | None) -> int | None:
    """Return the run from which on all fleets together have won more than those without advice.

    None if they have not in the end.
    """
    gains = (
        sum(
            won - otherwise
            for (each, won), (_, otherwise) in zip(told, untold, strict=True)
            if kind in (None, each)
        )
        for told, untold in zip(zip(*fleets, strict=True), zip(*without, strict=True), strict=True)
    )
    behind = [run for run, gained in enumerate(accumulate(gains), 1) if gained <= 0]
    first = behind[-1] + 1 if behind else 1
    return first if first <= len(fleets[0]) else None
