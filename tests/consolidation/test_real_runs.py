"""Two hundred recorded runs of a real agent (τ-bench): known counts."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.consolidation.fleet import Fleet
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.competences.tables import signatures
from trackrecord.store.database.engine import reading

RUNS = Path(__file__).parents[3] / "shared" / "data" / "tau-bench" / "gpt-4o-airline.json"

pytestmark = pytest.mark.skipif(
    not RUNS.exists(), reason="the τ-bench runs are not beside the repository"
)


def body_of(run: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": call["id"], "tool": call["function"]["name"], "args": call["function"]["arguments"]}
        for message in run["traj"]
        for call in message.get("tool_calls") or ()
    ]
    return {"tool_graph": calls}


def report_runs(fleet: Fleet) -> int:
    """Report the runs that used tools; answers how many."""
    bodies = [(run["reward"] == 1.0, body_of(run)) for run in json.loads(RUNS.read_bytes())]
    episodes = [(success, body) for success, body in bodies if body["tool_graph"]]
    fleet.report_bodies(episodes)
    return len(episodes)


def counts(fleet: Fleet) -> tuple[int, int, int]:
    """Signatures, records, and the episodes that the records cover."""
    with reading(fleet.engine) as connection:
        known = connection.execute(select(func.count()).select_from(signatures)).scalar_one()
    records = fleet.records().values()
    covered = sum(
        record.performance.success_count + record.performance.failure_count for record in records
    )
    return known, len(records), covered


def test_distinct_tools(fleet: Fleet) -> None:
    """82 signatures among the runs with tools; 13 records cover 87 runs."""
    assert report_runs(fleet) == 182
    fleet.consolidate()
    known, records, covered = counts(fleet)
    assert (known, records, covered) == (82, 13, 87)
    flight = next(each for each in fleet.records().values() if each.recipe[0].args_schema)
    assert set(flight.recipe[0].args_schema.values()) <= {"string", "array", "number"}


def test_repeats_kept(fleet: Fleet) -> None:
    """Fewer runs are alike then."""
    fleet.rules = CompetenceRules(keep_repeats=True)
    report_runs(fleet)
    fleet.consolidate()
    assert counts(fleet) == (124, 10, 58)
