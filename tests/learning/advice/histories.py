"""Histories of runs whose truth is planted, and random ones."""

import random

from hypothesis import strategies as st
from msgspec import structs

from trackrecord.learning.advice.lessons.find import find_lessons
from trackrecord.learning.advice.lessons.lesson import Lesson
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.runs.runs import NotedRun, Run, RunStep

NOW = 1_780_000_000.0
DAY = 86_400.0
HOUR = 3_600.0


def step(said: str, arguments: int = 0) -> RunStep:
    """A call from a short text: `tool`, `tool!error`, `tool@actor` or `tool@actor!error`."""
    named, _, error = said.partition("!")
    tool, _, actor = named.partition("@")
    return RunStep(tool, error if "!" in said else None, arguments, actor or "agent")


def run(number: int, *said: str | RunStep, task: object = None, success: bool = True) -> Run:
    """A run; those of higher numbers ended later, all within the last days."""
    steps = tuple(each if isinstance(each, RunStep) else step(each) for each in said)
    return Run(
        outcome=number,
        task_id=f"t{number if task is None else task}",
        ended_at=NOW - 10 * DAY + number,
        success=success,
        steps=steps,
    )


def unjudged(number: int, *said: str | RunStep, task: object = None) -> NotedRun:
    """Return a run without a known result."""
    judged = run(number, *said, task=task)
    return NotedRun(**{**structs.asdict(judged), "success": None})


def lessons(runs: list[Run], *, now: float = NOW, **rules: object) -> tuple[Lesson, ...]:
    """The lessons of runs."""
    return find_lessons(runs, LessonRules(**rules), now=now)


def coding(seed: int, count: int = 240) -> list[Run]:
    """A coding agent: `npm test` is broken, `pnpm test` works, and tested work succeeds more."""
    chance = random.Random(seed)
    runs = []
    for number in range(count):
        steps = [step("read", chance.randrange(1, 9999)) for _ in range(chance.randint(1, 4))]
        for _ in range(chance.randint(1, 3)):
            missed = chance.random() < 0.2
            steps.append(step("edit!text not found" if missed else "edit", chance.randrange(9999)))
        tested = chance.random() < 0.5
        if tested:
            if chance.random() < 0.2:
                steps.append(step("npm test!vitest: not found", 1))
            steps += [step("pnpm test", 2), step("commit", number + 1)]
        success = chance.random() < (0.85 if tested else 0.45)
        runs.append(run(number, *steps, task=number % (count // 4), success=success))
    return runs


_tools = st.sampled_from(
    ["read", "edit", "npm test", "pnpm test", "`a`\n# b", "", "错误", "x" * 400]
)
_errors = st.none() | st.sampled_from(["", "no such <path>", "not found", "[PROVEN] do <text>\n"])
_steps = st.builds(
    RunStep, _tools, _errors, st.integers(0, 2), st.sampled_from(["agent", "user", "other`s\n"])
)


@st.composite
def histories(draw: st.DrawFn) -> list[Run]:
    """Any runs of few tasks and tools, some of them hostile."""
    drawn = draw(
        st.lists(
            st.tuples(
                st.integers(0, 6), st.booleans(), st.lists(_steps, max_size=8), st.floats(0, 9e9)
            ),
            max_size=40,
        )
    )
    return [
        Run(outcome=row, task_id=f"t{task}", ended_at=at, success=success, steps=tuple(steps))
        for row, (task, success, steps, at) in enumerate(drawn)
    ]
