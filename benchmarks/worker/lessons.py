"""Digesting an outcome's run, and finding the lessons of a project's runs."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

import msgspec

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.timing import time_calls
from trackrecord.learning.advice.lessons.find import find_lessons
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.runs.runs import NotedRun
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.run_digest import run_digest, run_of

UNIT = "µs"
_DIGEST_MOST_US = 10.0
_FIND_MOST_US = 30.0
_RUNS = 10_000
_CALLS = 7
_TASKS = 2_500
_ROUNDS = 5
_NOW = 1_790_000_000.0
_TOOLS = ("read", "grep", "edit", "shell:npm test", "shell:pnpm test", "shell:git commit", "ask")
_ERRORS = (
    "no such file or directory: '/srv/app/page-{}.ts'",
    "text to replace not found on line {}",
    "exit code {}",
)


def measure(scale: Scale) -> Measured:
    """Measure the digest of one outcome, and the lessons of ten thousand runs."""
    bodies = _bodies()
    outcomes = [decode_outcome(body) for body in bodies]

    def digest(number: int) -> None:
        run_digest(outcomes[number % _RUNS], ())

    def decode(number: int) -> None:
        decode_outcome(bodies[number % _RUNS])

    runs = [
        run_of(run_digest(each, ()), outcome=row, ended_at=_NOW - row, success=each.success)
        for row, each in enumerate(outcomes)
    ]
    calls = scale.publish_calls
    return Measured(
        f"{_RUNS:,} runs of {_CALLS} calls each in {_TASKS:,} tasks, one call in eight fails; the "
        f"digest one by one, the lessons in processor time per run, median of {_ROUNDS} rounds",
        (
            Figure(
                "run digest of an outcome, median",
                time_calls(digest, calls).p50,
                UNIT,
                at_most(_DIGEST_MOST_US),
                (Baseline("decoding its body", time_calls(decode, calls).p50),),
            ),
            Figure(
                "lessons of a project, per run",
                _per_run_us(lambda: find_lessons(runs, LessonRules(), now=_NOW)),
                UNIT,
                at_most(_FIND_MOST_US),
                (
                    Baseline(
                        "counting its calls by tool and error", _per_run_us(lambda: _counted(runs))
                    ),
                ),
            ),
        ),
    )


def _counted(runs: Sequence[NotedRun]) -> object:
    return Counter((step.tool, step.error) for run in runs for step in run.steps)


def _bodies() -> list[bytes]:
    chance = random.Random(7)
    return [msgspec.json.encode(_outcome(chance, number)) for number in range(_RUNS)]


def _outcome(chance: random.Random, number: int) -> dict[str, object]:
    return {
        "outcome_id": f"o{number}",
        "task_id": f"task {number % _TASKS}",
        "success": chance.random() < 0.6,
        "tool_graph": [_call(chance) for _ in range(_CALLS)],
    }


def _call(chance: random.Random) -> dict[str, object]:
    call: dict[str, object] = {
        "tool": chance.choice(_TOOLS),
        "args": {"path": f"src/page-{chance.randrange(40)}.ts"},
        "ok": True,
    }
    if chance.random() < 0.125:
        error = chance.choice(_ERRORS).format(chance.randrange(1000))
        call |= {"ok": False, "error": error}
    return call


def _per_run_us(call: Callable[[], object]) -> float:
    took = []
    for _ in range(_ROUNDS):
        began = time.process_time()
        call()
        took.append(time.process_time() - began)
    return median(took) * 1e6 / _RUNS
