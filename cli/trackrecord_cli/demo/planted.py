"""The planted truth, and what agents that live in it report."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

PROJECT = "demo"
DAYS = 30.0
_DAY_S = 86_400.0


@dataclass(frozen=True)
class PlantedStrategy:
    """A decomposition strategy that really works that often.

    Attributes:
        slug: the id that it is learnt under.
        plan: how an agent writes it in a plan.
        success_rate: 0..1.
    """

    slug: str
    plan: str
    success_rate: float


@dataclass(frozen=True)
class PlantedProcedure:
    """A tool procedure that really works that often.

    Attributes:
        trigger: what sets it off.
        tools: in the order of use.
        success_rate: 0..1.
    """

    trigger: str
    tools: tuple[str, ...]
    success_rate: float

    @property
    def signature(self) -> str:
        """The signature that its episodes have."""
        return "+".join(sorted(set(self.tools)))


STRATEGIES = (
    PlantedStrategy("split-by-component", "We'll split by component, each on its own.", 0.95),
    PlantedStrategy("respect-dependency-chain", "We respect the dependency chain.", 0.90),
    PlantedStrategy("handle-shared-types-first", "计划:先处理共享类型,然后继续。", 0.80),
    PlantedStrategy("one-file-per-subtask", "The plan is one file per subtask.", 0.75),
    PlantedStrategy("maximize-parallelization", "最大化并行化,尽快完成。", 0.45),
    PlantedStrategy("split-by-file-type", "We'll split by file type and merge later.", 0.25),
    PlantedStrategy("tests-in-separate-subtask", "Tests in separate subtask, at the end.", 0.15),
)

PROCEDURES = (
    PlantedProcedure("build is red", ("read_log", "edit_file", "go_build", "go_test"), 0.90),
    PlantedProcedure("build is red", ("edit_file", "git_push"), 0.30),
    PlantedProcedure("type error", ("open_file", "edit_file", "mypy"), 0.85),
    PlantedProcedure("refund request", ("get_user", "get_order", "issue_refund"), 0.75),
    PlantedProcedure("refund request", ("issue_refund",), 0.20),
)


def reports(*, seed: int, agent: int, outcomes: int, now: float) -> Iterator[dict[str, Any]]:
    """Return the reports of one agent; the same for the same seed, apart from the time.

    Args:
        seed: of the whole demo.
        agent: the agent's number.
        outcomes: how many.
        now: the present; the tasks ended within the last 30 days.
    """
    chance = random.Random(f"{seed}/{agent}")  # noqa: S311 - a simulation, no secret
    for number in range(outcomes):
        strategy = chance.choice(STRATEGIES)
        procedure = chance.choice(PROCEDURES) if number % 2 else None
        success = chance.random() < (procedure or strategy).success_rate
        report = {
            "outcome_id": f"demo-{seed}-{agent}-{number}",
            "project": PROJECT,
            "source": f"agent-{agent}",
            "task_id": f"task-{agent}-{number}",
            "timestamp": now - chance.random() * DAYS * _DAY_S,
            **signals(chance, success=success),
        }
        if procedure is None:
            report["description"] = strategy.plan
        else:
            report["trigger"] = {"signal": procedure.trigger}
            report["tool_graph"] = _calls(chance, procedure, success=success)
        yield report


def signals(chance: random.Random, *, success: bool) -> dict[str, Any]:
    """Return the signals of a task: a good one is quick and clean, a failed one full of errors."""
    if success:
        return {
            "success": True,
            "duration_ms": chance.randint(20_000, 280_000),
            "error_count": chance.choice((0, 0, 0, 1)),
            "retry_count": 0,
        }
    return {
        "success": False,
        "duration_ms": chance.randint(1_900_000, 5_000_000),
        "error_count": chance.randint(3, 9),
        "retry_count": chance.randint(2, 5),
        "failure_mode": "validation",
    }


def _calls(
    chance: random.Random, procedure: PlantedProcedure, *, success: bool
) -> list[dict[str, Any]]:
    """The procedure's calls; the last one of a failed task is the one that failed."""
    last = len(procedure.tools) - 1
    return [
        {
            "tool": tool,
            "args": {"path": f"src/{chance.randint(1, 99)}.go", "line": chance.randint(1, 500)},
            "ok": success or position != last,
        }
        for position, tool in enumerate(procedure.tools)
    ]
