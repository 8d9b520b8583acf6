"""The effect of a project's advice, measured from its records."""

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.advice.effect.comparison import FEWEST
from trackrecord.learning.advice.effect.entries import EntryEffect
from trackrecord.learning.advice.effect.exposures import Exposure
from trackrecord.learning.advice.effect.report import EffectReport, effect_of
from trackrecord.learning.advice.effect.texts import why_withdrawn
from trackrecord.learning.advice.effect.trials import trials_of

from ..competences.read import read_competences
from .effect_decisions import (
    CONSENTED,
    MEASURED,
    EffectDecision,
    decide_effect,
    effect_decisions_in_force,
)
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
    return _effect(connection, project_id, exposures) if exposures else EffectReport()


def _effect(connection: Connection, project_id: int, exposures: Sequence[Exposure]) -> EffectReport:
    runs = read_runs(connection, project_id, limit=MOST_TASKS)
    tools_of = {
        record.id: frozenset(record.required_tools)
        for record in read_competences(connection, project_id)
    }
    return effect_of(trials_of(exposures, runs), tools_of)


def harmful_entries(connection: Connection, project_id: int) -> list[EntryEffect]:
    """Return the harmful entries without a decision by hand.

    Args:
        connection: a reading transaction.
        project_id: whose advice.
    """
    exposures = read_exposures(connection, project_id, limit=MOST_TASKS)
    if not any(each.is_withheld for each in exposures):
        return []  # nothing can be compared, so the runs need not be read
    decided = effect_decisions_in_force(connection, project_id).entries
    harmful = _effect(connection, project_id, exposures).harmful
    return [each for each in harmful if each.entry not in decided]


def withdraw(
    connection: Connection, project_id: int, harmful: Iterable[EntryEffect], *, now: float
) -> None:
    """Withdraw entries, each with the numbers that it is withdrawn for.

    Args:
        connection: within a writing transaction.
        project_id: whose advice.
        harmful: the entries.
        now: seconds since the epoch.
    """
    for each in harmful:
        reason = why_withdrawn(each)
        decide_effect(
            connection,
            project_id,
            EffectDecision("withdraw", each.entry, None, MEASURED, reason, now),
        )


def is_holdout_due(connection: Connection, project_id: int) -> bool:
    """Return whether a project has enough tasks for a holdout, and no decision about it.

    Counted are the tasks that ended after they were handed something under their task_id.
    """
    if not are_more_exposures(connection, project_id, ENOUGH_TASKS - 1):
        return False
    if effect_decisions_in_force(connection, project_id).holdout is not None:
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
    decision = EffectDecision("holdout", "", USUAL_HOLDOUT, CONSENTED, reason, now)
    decide_effect(connection, project_id, decision)
