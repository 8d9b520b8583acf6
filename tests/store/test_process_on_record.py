"""The rates of a project, from its recorded outcomes, on each database."""

from tests.store.teaching import NOW, RULES, outcome, teach
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.process_rates import read_snapshot


def taken(store, project="default", *, now=NOW, since=None):
    with reading(store) as connection:
        project_id = project_id_of(connection, project)
        return read_snapshot(connection, project_id, RULES, now=now, since=since)


def test_rates_of_what_was_recorded(store):
    """All fields of the wire that they are made of."""
    teach(
        store,
        [
            outcome(1, process={"reviews": 4, "rejections": 1, "test_fail_loops": 2},
                    retry_count=3, tool_graph=[{"tool": "a", "args": {"x": [1]}}, {}]),
            outcome(2, process={"reviews": 4, "rejections": 2, "hard_limit_hits": 8}),
            outcome(3, helpful=False, tool_graph=[], process=None),
            outcome(4, process={}, retry_count=None, tool_graph=None, metadata={"process": 7}),
        ],
    )  # fmt: skip
    run = taken(store)
    assert run.outcomes == 4
    assert run.rejection_rate == 3 / 8
    assert run.test_fail_loops == 0.5
    assert run.tool_calls == 1.0
    assert run.hard_limit_hits == 2.0
    assert run.retry_count == 3.0  # 3 and the failure's 9, over four
    assert run.success_rate == 0.75
    assert 0.5 < run.mean_score < 1.0
    assert run.proven_share == 0.0
    assert (run.at, run.since) == (NOW, None)


def test_only_what_was_received_in_time(store):
    """Up to the moment, and from `since` on; both ends count."""
    teach(store, [outcome(n, received=NOW + n, retry_count=n) for n in range(10)])
    assert taken(store, now=NOW + 9).outcomes == 10
    assert taken(store, now=NOW + 4).outcomes == 5
    assert taken(store, now=NOW + 9, since=NOW + 8).totals.retries == 17
    assert taken(store, now=NOW + 9, since=NOW + 100).outcomes == 0
