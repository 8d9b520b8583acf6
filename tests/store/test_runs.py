"""Runs: noted once for each outcome, read as of any moment, noted anew by a rebuild."""

from sqlalchemy import delete, select

from tests.store.teaching import DAY, NOW, RULES, outcome, teach
from trackrecord.store.advice.runs import read_runs
from trackrecord.store.competences.episodes import ReadEpisode, mark_read
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.outcomes.tables import waiting_episodes

CALLS = [
    {"tool": "find", "args": {"of": 1}, "ok": True},
    {"tool": "book", "args": {"of": 2}, "ok": False, "error": "no seat 12A on 2024-05-05"},
    {"tool": "book", "args": {"of": 2}, "error": {"code": 500, "message": "full"}, "actor": "user"},
]


def batch():
    """Five outcomes of one project, and one of another."""
    mine = [
        outcome(
            number, timestamp=NOW - number * DAY, received=NOW - number,
            instruction=f"book flight {number}", tool_graph=CALLS, patterns=["X"], source="claude",
            trigger={"signal": "book"}, metadata={"repository": "shop"},
            cost={"tokens_in": 3, "tokens_out": 4},
        )
        for number in range(5)
    ]  # fmt: skip
    return [*mine, outcome(9, project="other")]


def runs(store, *, limit=100):
    """The runs of the first project."""
    with reading(store) as connection:
        return read_runs(connection, 1, limit=limit)


def test_a_run_has_what_advice_is_counted_from(store):
    """Names and templates of errors, never an argument; the calls in order."""
    teach(store, [batch()[0]])
    (run,) = runs(store)
    assert (run.task_id, run.source, run.trigger, run.repository) == (
        "t0", "claude", "book", "shop",
    )  # fmt: skip
    assert (run.instruction, run.patterns, run.tokens) == ("book flight 0", ("x",), 7)
    assert [(step.tool, step.error, step.actor) for step in run.steps] == [
        ("find", None, "agent"),
        ("book", "no seat <id> on <time>", "agent"),
        ("book", "full", "user"),
    ]
    assert run.steps[1].arguments == run.steps[2].arguments != run.steps[0].arguments


def test_a_rebuild_lets_episodes_wait_that_nobody_noted(store):
    """Those of outcomes that neither wait nor were read; no other ones, and once."""
    calls = [{"tool": "a"}, {"tool": "b"}]
    replaced = outcome(0, tool_graph=calls, outcome_source="heuristic")
    teach(store, [replaced, *(outcome(n, tool_graph=calls) for n in range(1, 6)), outcome(9)])
    teach(store, [outcome(0, tool_graph=calls, outcome_source="explicit", received=NOW + 1)])
    with writing(store) as connection:
        rows = waiting_rows(connection)
        assert len(rows) == 6
        connection.execute(delete(waiting_episodes).where(waiting_episodes.c.outcome.in_(rows[:4])))
        mark_read(connection, 1, [ReadEpisode(rows[0], None, True)], {}, NOW)
    for _ in range(2):
        with writing(store) as connection:
            rebuild_patterns(connection, 1, RULES, now=NOW)
            assert waiting_rows(connection) == rows[1:]


def waiting_rows(connection):
    query = select(waiting_episodes.c.outcome).order_by(waiting_episodes.c.outcome)
    return list(connection.execute(query).scalars())
