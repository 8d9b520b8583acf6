"""Counting all estimates of a project from its runs."""

import random
import time
from collections.abc import Sequence

from benchmarks.harness.figures import Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from trackrecord.learning.advice.estimates.estimates import Estimate, estimate
from trackrecord.learning.advice.estimates.posterior import beta_quantile
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.advice.tasks.task_index import index_words

UNIT = "s"
_RUNS = 10_000
_PROCEDURES = 2_000
_PATTERNS = 1_000
_TIMES = 3
_MOST_S = 1.0
_NOW = 1_790_000_000.0
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def measure(scale: Scale) -> Measured:
    """Measure the processor time; no server is asked."""
    runs = _runs(min(_RUNS, max(1_000, _RUNS * scale.reads // 2_000)))
    counting, reading = [], []
    for _ in range(_TIMES):
        beta_quantile.cache_clear()
        index_words.cache_clear()
        started = time.process_time()
        found = estimate(runs, now=_NOW, half_life_days=90.0)
        counted = time.process_time()
        shown = [
            *map(found.procedure, found.counts.by_procedure),
            *map(found.pattern, found.counts.by_pattern),
        ]
        _intervals(shown)
        counting.append(counted - started)
        reading.append(time.process_time() - counted)
    whole = min(map(sum, zip(counting, reading, strict=True)))
    return Measured(
        f"{len(runs):,} runs with instructions of 14 words, {len(found.counts.by_procedure):,} "
        f"procedures, {len(found.counts.by_pattern):,} patterns, {len(found.kinds.names)} kinds of "
        f"task; processor time, the best of {_TIMES}",
        (
            Figure("all estimates with their intervals", whole, UNIT, at_most(_MOST_S)),
            Figure("counting and effects", min(counting), UNIT),
            Figure("rates and intervals", min(reading), UNIT),
        ),
    )


def _intervals(shown: Sequence[Estimate]) -> None:
    for each in shown:
        low, high = each.posterior.interval
        if not low <= each.posterior.mean <= high:
            message = f"an interval of {low} to {high} around {each.posterior.mean}"
            raise RuntimeError(message)


def _runs(count: int) -> list[Run]:
    """Return runs of 30 kinds of task; every second task is tried twice."""
    chance = random.Random(3)
    words = ["".join(chance.choices(_LETTERS, k=chance.randint(3, 9))) for _ in range(3_000)]
    kinds = [chance.sample(words, 12) for _ in range(30)]
    runs = []
    for number in range(count):
        task = number if number % 3 else number - number % 2
        procedure = number % _PROCEDURES if number % 2 else _rare(_PROCEDURES, chance)
        kind = task % len(kinds)
        text = chance.choices(kinds[kind], k=8) + chance.choices(words, k=6)
        runs.append(
            Run(
                outcome=number,
                task_id=f"t{task}",
                ended_at=_NOW - 60.0 * number,
                success=chance.random() < 0.5,
                instruction=" ".join(text),
                patterns=(f"p{_rare(_PATTERNS // 2, chance)}", f"q{number % (_PATTERNS // 2)}"),
                steps=(RunStep(f"read_{procedure % 50}"), RunStep(f"edit_{procedure // 50}")),
            )
        )
    return runs


def _rare(most: int, chance: random.Random) -> int:
    """Return a number below `most`, of which the small ones are common."""
    return int(most * chance.random() ** 2.5)
