"""Building the advice of a project from its runs."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection

from trackrecord.learning.advice.past_tasks import PastTask, past_tasks_of, procedure_of_run
from trackrecord.learning.advice.runs import Run
from trackrecord.learning.advice.task_index import build_index
from trackrecord.learning.competences.episodes import signature_of
from trackrecord.prompt.advice_document import (
    AdviceDocument,
    Expected,
    PastTasks,
    ProcedureEntry,
)
from trackrecord.rules import Rules
from trackrecord.store.advice.runs import read_runs
from trackrecord.store.outcomes.projects import revision_of


def build_advice(
    connection: Connection, project: str, rules: Rules, *, now: float, at: float | None = None
) -> AdviceDocument:
    """Count all that a project's runs tell.

    Args:
        connection: a reading transaction.
        project: whose runs.
        rules: the rules of the settings.
        now: the present, seconds since the epoch.
        at: a past moment to answer for.
    """
    found = revision_of(connection, project)
    if found is None:
        return AdviceDocument(project=project, revision=0, computed_at=now)
    project_id, revision = found
    runs = read_runs(connection, project_id, limit=rules.advice.max_runs, at=at)
    procedures, positions = _procedures(runs)
    return AdviceDocument(
        project=project,
        revision=revision,
        computed_at=now,
        runs=len(runs),
        procedures=procedures,
        past_tasks=_past_tasks(past_tasks_of(runs), positions),
    )


def _procedures(runs: Sequence[Run]) -> tuple[tuple[ProcedureEntry, ...], dict[str, int]]:
    """Return every procedure of runs, and their positions by signature."""
    orders: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    counts: Counter[tuple[str, bool]] = Counter()
    for run in runs:
        order = procedure_of_run(run)
        signature = signature_of(order)
        counts[signature, run.success] += 1
        # An order that succeeded is worth more than any that failed.
        orders[signature][order] += len(runs) if run.success else 1
    entries = tuple(
        ProcedureEntry(
            signature=signature,
            order=min(orders[signature], key=lambda order: (-orders[signature][order], order)),
            expected=_expected(counts[signature, True], counts[signature, False]),
        )
        for signature in sorted(orders)
    )
    return entries, {entry.signature: position for position, entry in enumerate(entries)}


def _expected(successes: int, failures: int) -> Expected:
    a, b = successes + 1.0, failures + 1.0
    return Expected(a, b, a / (a + b), 0.0, 1.0, runs=successes + failures, successes=successes)


def _past_tasks(tasks: Sequence[PastTask], positions: dict[str, int]) -> PastTasks:
    texts = [task.text.encode() for task in tasks]
    ends, end = array("I"), 0
    for text in texts:
        end += len(text)
        ends.append(end)
    return PastTasks(
        index=build_index([task.text for task in tasks]),
        texts=b"".join(texts),
        ends=ends.tobytes(),
        kinds=array("I", [0] * len(tasks)).tobytes(),
        runs=tuple(_tallies(task, positions) for task in tasks),
        endings=tuple(
            min(task.endings, key=lambda said: (-task.endings[said], said), default="")
            for task in tasks
        ),
    )


def _tallies(task: PastTask, positions: dict[str, int]) -> tuple[tuple[int, int, int, float], ...]:
    """Return the runs of a text by the position of their procedure; its orders count as one."""
    merged: dict[int, tuple[int, int, float]] = {}
    for order, (successes, failures, last) in sorted(task.tallies.items()):
        position = positions[signature_of(order)]
        known = merged.get(position, (0, 0, 0.0))
        merged[position] = (known[0] + successes, known[1] + failures, max(known[2], last))
    return tuple((position, *tally) for position, tally in sorted(merged.items()))
