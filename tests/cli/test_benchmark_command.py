"""`trackrecord benchmark`: rates, their history, and the gate."""

import time

import pytest

from tests.store.teaching import learn_reports
from trackrecord.learning.rules_bundle import Rules
from trackrecord.settings.settings import load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate


@pytest.fixture
def benchmark(nothing_up, trackrecord):
    """Runs `benchmark …`; needs no Redis."""
    return lambda *arguments: trackrecord("benchmark", *arguments)


@pytest.fixture
def record(nothing_up):
    """Puts outcomes on record."""

    def call(*outcomes, project="default"):
        engine = connect_store(load_settings().effective_database_url)
        migrate(engine)
        now = time.time()
        given = {"task_id": "t", "success": True, "project": project}
        reports = [
            {"outcome_id": f"{now}-{number}", **given, **fields}
            for number, fields in enumerate(outcomes)
        ]
        learn_reports(engine, reports, Rules(), now=now)
        engine.dispose()

    return call


GOOD = {"process": {"reviews": 10, "rejections": 3, "hard_limit_hits": 5}, "retry_count": 3}


def test_run_computes_and_appends(benchmark, record):
    """A snapshot of the project, kept."""
    record(GOOD, {"tool_graph": [{"tool": "a"}], "retry_count": 1})
    document = benchmark("run", "--json").json
    assert document["project"] == "default"
    assert document["outcomes"] == 2
    assert document["rejection_rate"] == 0.3
    assert document["retry_count"] == 2.0
    assert document["tool_calls"] == 1.0
    assert document["success_rate"] == 1.0
    assert document["totals"]["hard_limit_hits"] == 5
    assert document["since"] is None
    (run,) = benchmark("report", "--json").json
    assert {**run, "changes": None} == {**document, "changes": None}


def test_report_shows_the_last_runs_with_their_changes(benchmark, record):
    """The oldest of them first; the one before the first shown still counts for its change."""
    for retries in (1, 4, 7):
        record({"retry_count": retries})
        benchmark("run")
    runs = benchmark("report", "--last", 2, "--json").json
    assert [run["retry_count"] for run in runs] == [2.5, 4.0]
    assert [run["changes"]["retry_count"] for run in runs] == [1.5, 1.5]
    assert runs[0]["changes"]["rejection_rate"] is None
    assert benchmark("report", "--json").json[0]["changes"]["retry_count"] is None
    last = benchmark("report").out.splitlines()[-1].split("\t")
    assert last[6] == "4.00 (+1.50)"
    assert last[2] == "-"


@pytest.mark.parametrize(
    "bad",
    [{"retry_count": 4}, {"process": {"reviews": 10, "rejections": 4}},
     {"process": {"reviews": 1, "hard_limit_hits": 6}}],
)  # fmt: skip
def test_gate_fails_beyond_a_threshold(benchmark, record, bad):
    """Exit status 1, the document all the same, and it is the last run that is judged."""
    record({**GOOD, **bad})
    benchmark("run")
    ran = benchmark("gate", "--json")
    assert ran.status == 1
    assert ran.json["passed"] is False
    assert benchmark("gate").status == 1
    assert "FAILED" in benchmark("gate").out


def test_a_database_that_is_away_is_status_3(benchmark, monkeypatch):
    """For the run; report and gate need none."""
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", "postgresql://me@127.0.0.1:1/x")
    assert benchmark("run").status == 3
    assert benchmark("report").status == 0
    assert benchmark("gate").status == 1
