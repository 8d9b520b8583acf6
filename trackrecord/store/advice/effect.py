"""The effect of a project's advice, measured from its records."""

from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.advice.effect.comparison import FEWEST
from trackrecord.learning.advice.effect.report import EffectReport, effect_of
from trackrecord.learning.advice.effect.trials import trials_of

from .effect_decisions import CONSENTED, HoldoutDecision, decide_holdout, decided_holdout
from .exposures import are_more_exposures, read_exposures
from .runs import read_runs

# The newest tasks of a project; of older ones the advice was another.
MOST_TASKS = 20_000
# The share of tasks that is withheld advice where the user agreed to measure its effect.
USUAL_HOLDOUT: Final = 0.1
# A project that has had so many tasks will soon have had as many again, and with them the fewest
# tasks without advice of which anything is said. One with fewer would give up advice for nothing.
ENOUGH_TASKS: Final = round(FEWEST / USUAL_HOLDOUT)


def read_effect(connection: Connection, project_id: int) -> EffectReport:
    """Return the effect of a project's advice.

    Args:
        connection: a reading transaction.
        project_id: whose advice.
    """
    exposures = read_exposures(connection, project_id, limit=MOST_TASKS)
    if not exposures:
        return EffectReport()
    runs = read_runs(connection, project_id, limit=MOST_TASKS)
    return effect_of(trials_of(exposures, runs))


def is_holdout_due(connection: Connection, project_id: int) -> bool:
    """Return whether a project has enough tasks for a holdout, and no decision about it.

    Counted are the tasks that ended after they were handed something under their task_id.
    """
    if not are_more_exposures(connection, project_id, ENOUGH_TASKS - 1):
        return False
    if decided_holdout(connection, project_id) is not None:
        return False
    exposures = read_exposures(connection, project_id, limit=MOST_TASKS)
    runs = read_runs(connection, project_id, limit=MOST_TASKS)
    return len(trials_of(exposures, runs).ended) >= ENOUGH_TASKS


def begin_holdout(connection: Connection, project_id: int, *, now: float) -> None:
    """Withhold advice from some tasks of a project from now on; a person's word goes before it.

    Args:
        connection: within a writing transaction.
        project_id: whose tasks.
        now: seconds since the epoch.
    """
    reason = f"{ENOUGH_TASKS} tasks ended that were handed advice"
    decision = HoldoutDecision(USUAL_HOLDOUT, CONSENTED, reason, now)
    decide_holdout(connection, project_id, decision)
