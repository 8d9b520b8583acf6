"""Arguments that fail, endings that succeed and ids that are passed on: found where planted.

A third of the payments goes by certificate, which fails; in the other world as many payments fail
by lot, and in the third the errors of each task are dealt out among its payments. Two habits at the
end of a run add 35 points to its success each, or nothing.
"""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from trackrecord.learning.advice.lessons.counting.arguments import find_arguments
from trackrecord.learning.advice.lessons.counting.completions import find_completions
from trackrecord.learning.advice.lessons.history import history_of
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.runs.arguments import noted_arguments
from trackrecord.learning.advice.runs.runs import PassedIds, Run, RunStep

_KINDS: Final = ("certificate", "gift_card", "credit_card")
_ERROR: Final = "certificate cannot be used"
_ENDED_AT: Final = 1_790_000_000.0


def _pay(failed: bool, **arguments: object) -> RunStep:
    shapes = noted_arguments(json.dumps(arguments).encode())
    return RunStep("pay", _ERROR if failed else None, 1, shapes=shapes)


def _run(number: int, task: int, steps: Iterable[RunStep], *, success: bool = True) -> Run:
    return Run(
        outcome=number,
        task_id=f"t{task}",
        ended_at=_ENDED_AT + number,
        success=success,
        steps=tuple(steps),
    )


def payments(seed: int, fails: Callable[[str, random.Random], bool]) -> list[Run]:
    """Return runs that try one kind of id after the other until one works."""
    chance = random.Random(f"arguments/{seed}")
    runs = []
    for number in range(90):
        steps = []
        for kind in chance.sample(_KINDS, len(_KINDS)):
            failed = fails(kind, chance)
            method = f"{kind}_{chance.randrange(10**6, 10**7)}"
            steps.append(_pay(failed, method=method, order=number))
            if not failed:
                break
        runs.append(_run(number, number % 30, [*steps, RunStep("close")]))
    return runs


def permuted(runs: list[Run], seed: int) -> list[Run]:
    """Return runs whose payments' errors are dealt out among those of each task."""
    chance = random.Random(f"dealt/{seed}")
    errors: defaultdict[str, list[str | None]] = defaultdict(list)
    for run in runs:
        errors[run.task_id] += [step.error for step in run.steps[:-1]]
    for each in errors.values():
        chance.shuffle(each)
    return [
        replace(
            run,
            steps=(
                *(replace(step, error=errors[run.task_id].pop()) for step in run.steps[:-1]),
                run.steps[-1],
            ),
        )
        for run in runs
    ]


def endings(seed: int, effect: float) -> list[Run]:
    """Return runs that end in one of two calls, and read all or one of a customer's orders."""
    chance = random.Random(f"endings/{seed}")
    runs = []
    for number in range(480):
        is_whole, is_closed = chance.random() < 0.5, chance.random() < 0.5
        success = chance.random() < 0.3 + effect * is_whole + effect * is_closed
        base = PassedIds("customer", "orders", "", 4, 0)
        ids = (base, base._replace(to="order", passed=4 if is_whole else 1))
        steps = map(RunStep, ("customer", "order", "close" if is_closed else "think"))
        runs.append(replace(_run(number, number % 120, steps, success=success), passed_ids=ids))
    return runs


def rows(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Return in how many histories something is told.

    Args:
        seeds: one history each.
    """
    seeds = list(seeds)
    planted = [payments(seed, lambda kind, _: kind == "certificate") for seed in seeds]
    worlds = {
        "certificates fail": planted,
        "payments fail by lot": [payments(s, lambda _, c: c.random() < 1 / 3) for s in seeds],
        "errors dealt out": [permuted(each, s) for each, s in zip(planted, seeds, strict=True)],
    }
    for name, histories in worlds.items():
        told = sum(any(find_arguments(history_of(each), LessonRules())) for each in histories)
        yield {"world": name, "histories": len(seeds), "told": told}
    for name, effect in (("habits help", 0.35), ("habits do nothing", 0.0)):
        histories = [endings(seed, effect) for seed in seeds]
        told = sum(any(find_completions(history_of(each), LessonRules())) for each in histories)
        yield {"world": name, "histories": len(seeds), "told": told}
