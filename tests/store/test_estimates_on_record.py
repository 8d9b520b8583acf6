"""Estimates from a store: as of any moment, in any order, on both databases."""

import random
from dataclasses import asdict

from tests.store.teaching import DAY, NOW, outcome, teach
from trackrecord.learning.advice.estimates.estimates import estimate
from trackrecord.store.advice.runs import read_runs
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of


def batch(project="default", count=24):
    """Outcomes of two kinds of task, received one after the other."""
    return [
        outcome(
            number,
            helpful=number % 3 != 0,
            timestamp=NOW - number * DAY,
            received=NOW - count + number,
            project=project,
            trigger={"signal": ("red", "blue")[number % 2]},
            tool_graph=[{"tool": tool} for tool in "ab"[: 1 + number % 4 // 2]],
            patterns=["plan"] if number % 4 < 2 else [],
        )
        for number in range(count)
    ]


def told(store, project="default"):
    """All that is estimated of a project, as data."""
    with reading(store) as connection:
        project_id = project_id_of(connection, project)
        runs = read_runs(connection, project_id, limit=1000)
    found = estimate(runs, now=NOW, half_life_days=90.0)
    procedures = {
        (signature, kind): asdict(found.procedure(signature, kind))
        for signature in (*found.counts.by_procedure, "never")
        for kind in (None, *range(len(found.kinds.names)))
    }
    return procedures, asdict(found.pattern("plan")), asdict(found.project)


def test_the_order_and_number_of_deliveries_makes_no_difference(store):
    """All at once, or one by one in another order and twice: the same to the last digit."""
    teach(store, batch())
    shuffled = batch("other") * 2
    random.Random(4).shuffle(shuffled)
    for each in shuffled:
        teach(store, [each])
    assert told(store, "other") == told(store)


def test_the_past_is_what_a_store_would_have_told_then(store):
    """As of a project that got nothing after that moment."""
    then = NOW - 10
    teach(store, batch())
    teach(store, [each for each in batch("other") if each.received_at <= then])
    assert told(store) != told(store, "other")
