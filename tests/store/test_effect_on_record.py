"""The effect of advice on record: exposures and outcomes in any order, and decisions."""

import random

from tests.store.teaching import NOW, outcome, teach
from trackrecord.resources.figures.effect import measure_effect
from trackrecord.store.advice.effect import (
    HoldoutDecision,
    decide_holdout,
    decided_holdout,
    read_effect,
)
from trackrecord.store.advice.exposures import ReceivedExposure, read_exposures, record_exposures
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.wire.exposure import ExposureBody

TASKS = 1200


def exposure(number, *, withheld=False, entries=("x",), project="default"):
    body = ExposureBody(
        task_id=f"t{number}",
        entries=entries,
        project=project,
        at=NOW + number,
        withheld=withheld,
        holdout=0.5,
    )
    return ReceivedExposure(body, f"e{number}", NOW + number)


def expose(store, batch):
    with writing(store) as connection:
        ids = ensure_projects(connection, {each.body.project for each in batch})
        record_exposures(connection, ids, batch)


def harmful_fleet():
    """Tasks that fail more often with the pattern x than without it."""
    chance = random.Random(4)
    exposures, outcomes = [], []
    for number in range(TASKS):
        withheld = chance.random() < 0.5
        exposures.append(exposure(number, withheld=withheld))
        helpful = chance.random() < (0.8 if withheld else 0.4)
        moment = NOW + number + 1
        outcomes.append(
            outcome(number, helpful=helpful, received=moment, timestamp=moment, patterns=["x"])
        )
    return exposures, outcomes


def effect_now(store):
    with reading(store) as connection:
        return read_effect(connection, 1)


def test_the_order_and_number_of_deliveries_makes_no_difference(store):
    """Outcomes before exposures, and all of it twice, in pieces."""
    exposures, outcomes = harmful_fleet()
    teach(store, outcomes[:200])
    random.Random(1).shuffle(exposures)
    for batch in (exposures[:500], exposures, exposures[300:700]):
        expose(store, batch)
    teach(store, outcomes, now=NOW + TASKS)
    with reading(store) as connection:
        assert len(read_exposures(connection, 1, limit=9999)) == TASKS
    report = effect_now(store)
    assert sum(report.tasks) == TASKS
    assert report.success.verdict == "hurts"


def test_a_task_id_in_two_projects_is_two_tasks(store):
    """An outcome says nothing about another project's exposure."""
    expose(store, [exposure(1), exposure(1, project="other")])
    teach(store, [outcome(1, received=NOW + 5, timestamp=NOW + 5)], now=NOW + 5)
    with reading(store) as connection:
        mine = measure_effect(connection, "default", setting=0.0).report
        others = measure_effect(connection, "other", setting=0.2)
    assert (mine.tasks, mine.open) == ((1, 0), (0, 0))
    assert (others.report.tasks, others.report.open, others.holdout) == ((0, 0), (1, 0), 0.2)


def test_the_last_decision_about_the_holdout_counts(store):
    """That there shall be none is a decision, too."""
    expose(store, [exposure(1)])
    with reading(store) as connection:
        assert decided_holdout(connection, 1) is None
    for moment, share in ((1.0, 0.2), (2.0, 0.0)):
        with writing(store) as connection:
            decision = HoldoutDecision(share, "ada", "", NOW + moment)
            decide_holdout(connection, 1, decision)
    with reading(store) as connection:
        assert decided_holdout(connection, 1) == 0.0
