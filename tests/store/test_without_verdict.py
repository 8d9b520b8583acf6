"""Outcomes of which nobody knows how they ended: kept, and moving no rate."""

from dataclasses import asdict, replace

import trackrecord.store.advice.runs as runs_on_record
from tests.store.teaching import CRITERIA, NOW, RULES, known, outcome, teach, unjudged
from trackrecord.learning.advice.estimates.estimates import estimate
from trackrecord.learning.advice.lessons.lesson import LessonKind
from trackrecord.resources.prompt_documents.advice import count_advice
from trackrecord.resources.prompt_documents.prompt_document import rank_project
from trackrecord.store.advice.runs import read_noted_runs, read_runs
from trackrecord.store.competences.episodes import last_waiting
from trackrecord.store.criteria.sums import read_criteria
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.memories.past_tasks import index_past_tasks, similar_tasks
from trackrecord.store.memories.read import find_memory
from trackrecord.store.memories.write import remember
from trackrecord.store.outcomes.projects import count_outcomes
from trackrecord.store.patterns.process_rates import read_snapshot

# Whatever an outcome can be evidence for.
EVERYTHING = {
    "patterns": ["plan"], "strategy": "file-based", "criteria": {"no_bugs": "harmful"},
    "instruction": "Cancel the flight to Oslo", "process": {"reviews": 4, "rejections": 4},
    "retry_count": 7,
    "tool_graph": [{"tool": "find"}, {"tool": "pay", "ok": False, "error": "card declined"}],
}  # fmt: skip


def answers(store):
    """All rates and rankings of the project, without the counts of outcomes and the lessons."""
    learnt = {name: replace(each, outcomes=0) for name, each in known(store).items()}
    with reading(store) as connection:
        runs = read_runs(connection, 1, limit=1000)
        advice, _ = count_advice(connection, "default", RULES, now=NOW)
        return {
            "known": learnt,
            "base rate": count_outcomes(connection, 1).base_rate,
            "criteria": read_criteria(connection, 1, CRITERIA, now=NOW),
            "process": read_snapshot(connection, 1, RULES, now=NOW),
            "estimates": asdict(estimate(runs, now=NOW, half_life_days=90.0).project),
            "similar": [
                (each.outcome_id, each.success, each.relevance)
                for each in similar_tasks(connection, 1, "flight to Oslo", most=50)
            ],
            "advice": {
                name: getattr(advice, name)
                for name in ("runs", "expected", "procedures", "patterns", "kinds")
            },
            "similar tasks": advice.past_tasks.runs,
            "ranked": rank_project(connection, "default", RULES, now=NOW)[0].patterns,
        }


def test_it_is_recorded_and_counted_apart(store):
    """It is one of the outcomes, and neither a success nor a failure."""
    teach(store, [outcome(1), outcome(2, helpful=False), unjudged(3, **EVERYTHING)])
    with reading(store) as connection:
        counts = count_outcomes(connection, 1)
    assert (counts.outcomes, counts.successes, counts.without_verdict) == (3, 1, 1)
    assert counts.base_rate == 0.5


def test_it_is_no_evidence_for_anything(store):
    """No pattern, criterion, memory, past task, process rate or episode comes of it."""
    teach(store, [outcome(1)])
    with writing(store) as connection:
        remember(connection, 1, "pay by card", memory_id="m", rules=RULES.memories, now=NOW)
        memory = find_memory(connection, 1, "m")
    before = answers(store)
    teach(store, [unjudged(2, memory_ids=["m"], competence_id="c", **EVERYTHING)])
    index_past_tasks(store)
    assert answers(store) == before
    with reading(store) as connection:
        assert find_memory(connection, 1, "m") == memory
        assert last_waiting(connection, 1) is None


def test_its_calls_are_a_run(store):
    """What tool calls teach is learnt from it, too."""
    teach(store, [unjudged(n, received=NOW - n, **EVERYTHING) for n in range(40)])
    with reading(store) as connection:
        (entry, *_) = count_advice(connection, "default", RULES, now=NOW)[0].lessons
        assert read_runs(connection, 1, limit=9) == []
        noted = read_noted_runs(connection, 1)
    assert entry.kind is LessonKind.FAILS
    assert entry.runs == 40
    assert "card declined" in entry.lines["en"]
    assert [run.success for run in noted] == [None] * 40


def test_those_with_a_verdict_are_not_crowded_out(store, monkeypatch):
    """The window of runs counts those with a verdict; the others are of the same time."""
    teach(store, [outcome(n, timestamp=NOW - 100 + n) for n in range(10)])
    teach(store, [unjudged(n, timestamp=NOW - 99.5 + n) for n in range(20, 60)])
    monkeypatch.setattr(runs_on_record, "MAX_RUNS", 5)
    with reading(store) as connection:
        noted = read_noted_runs(connection, 1)
        judged = read_runs(connection, 1, limit=5)
    assert [run.task_id for run in judged] == ["t5", "t6", "t7", "t8", "t9"]
    assert [run for run in noted if run.success is not None] == judged
    assert len(noted) == 10
    assert noted == sorted(noted, key=lambda run: run.ended_at)
