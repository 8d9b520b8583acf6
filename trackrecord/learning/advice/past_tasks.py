"""Past tasks: each text once, with how often which procedure succeeded."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from ..text.masking import masked
from .runs import Run
from .task_finding import LONGEST_TOLD

# Only this much of an instruction tells one text from another.
LONGEST_TEXT: Final = 300
MOST_TEXTS: Final = 10_000


@dataclass
class RunsOfText:
    """The runs of one text.

    Attributes:
        text: the beginning of the instruction, or else the trigger, spaces evened out.
        last_at: when the last run ended.
        tallies: by procedure, its successes, failures, and when the last run ended.
        endings: how failed runs ended, counted.
        newest: its newest run.
    """

    text: str
    newest: Run
    last_at: float = 0.0
    tallies: dict[tuple[str, ...], tuple[int, int, float]] = field(default_factory=dict)
    endings: Counter[str] = field(default_factory=Counter)


def past_tasks_of(runs: Iterable[Run]) -> list[RunsOfText]:
    """Return the texts of runs, sorted; of too many, those that ended last."""
    found: dict[str, RunsOfText] = {}
    for run in runs:
        # An agent that reports no instruction may say what set the task off.
        text = " ".join((run.instruction or run.trigger).split())[:LONGEST_TEXT]
        if text:
            _add(found.setdefault(text, RunsOfText(text, run)), run)
    newest = sorted(found.values(), key=lambda task: (-task.last_at, task.text))[:MOST_TEXTS]
    return sorted(newest, key=lambda task: task.text)


def alike(texts: Sequence[str]) -> list[int]:
    """Return, for each text, the position of the first one that is equal when masked."""
    first: dict[str, int] = {}
    return [
        first.setdefault(_masked(text[:LONGEST_TOLD]), position)
        for position, text in enumerate(texts)
    ]


# Most texts are there again when advice is next counted; of the longest ones this holds 8 MB.
_masked = lru_cache(maxsize=MOST_TEXTS)(masked)


def _add(task: RunsOfText, run: Run) -> None:
    procedure = run.order
    successes, failures, last = task.tallies.get(procedure, (0, 0, 0.0))
    last = max(last, run.ended_at)
    task.tallies[procedure] = (successes + run.success, failures + (not run.success), last)
    task.last_at = max(task.last_at, run.ended_at)
    if not run.success:
        task.endings[ending_of(run)] += 1
    if _newness(run) > _newness(task.newest):
        task.newest = run


def _newness(run: Run) -> tuple[float, str, str, str]:
    # Not by its row, which depends on the order of arrival.
    return run.ended_at, run.task_id, run.trigger, run.repository


def ending_of(run: Run) -> str:
    """Return what a failed run ended in: its last error, else its failure mode; "" if unknown."""
    errors = (step.error for step in reversed(run.steps) if step.error)
    return next(errors, run.failure_mode)
