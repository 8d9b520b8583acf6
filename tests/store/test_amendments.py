"""Amended outcomes: every statistic stands as if only the joined record had come."""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from tests.store.teaching import CRITERIA, DAY, NOW, RULES, SCORER, rebuild, standings, teach
from trackrecord.errors import StoreBusy
from trackrecord.learning.advice.estimates.estimates import estimate
from trackrecord.learning.advice.moments.history import CallHistory
from trackrecord.learning.advice.runs.runs import with_verdict
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.advice.run_records import reports_of_runs
from trackrecord.store.advice.runs import read_noted_runs, read_tried_runs
from trackrecord.store.competences.read import read_competences
from trackrecord.store.competences.rebuild_credit import rebuild_credit
from trackrecord.store.competences.tables import signature_facts, signatures
from trackrecord.store.criteria.sums import read_criteria
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.amending import MOST_ENTRIES
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.read import changes_of
from trackrecord.store.memories.write import list_memories, remember
from trackrecord.store.outcomes.entries import OUTCOME_IS_CURRENT, entries_of
from trackrecord.store.outcomes.projects import count_outcomes, project_id_of
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.store.patterns.process_rates import read_snapshot
from trackrecord.wire.join import OutcomeEntry, join
from trackrecord.wire.outcome import decode_outcome
from trackrecord_consolidation.rebuild import rebuild_competences
from trackrecord_consolidation.run import consolidate

LEARNING = CompetenceRules(min_successes=2)
CALLS = [
    {"tool": "find"},
    {
        "tool": "pay", "args": {"sum": 1, "command": "npm test"}, "ok": False,
        "error": "no such file",
    },
]  # fmt: skip


def entry(name, success=True, *, at=NOW, after=0.0, **fields):
    """An entry about an outcome: what it says, and when it was received."""
    given = {
        "outcome_id": name, "task_id": f"t-{name}", "success": success, "timestamp": at,
        "reporter": "ci",
    }  # fmt: skip
    return OutcomeEntry(json.dumps(given | fields).encode(), at + 1 + after)


def scored(given):
    return SCORER.score(
        decode_outcome(given.body), given.body, received_at=given.received_at, outcome_id="none"
    )


def told(store, *entries, now=NOW + 100):
    return teach(store, map(scored, entries), now=now)


def joined(entries):
    """The one record that each outcome comes to."""
    by_name = {}
    for each in entries:
        by_name.setdefault(json.loads(each.body)["outcome_id"], []).append(each)
    return [OutcomeEntry(join(some).body, NOW + 90) for some in by_name.values()]


def run_consolidation(store, now=NOW + 200):
    consolidate(store, LEARNING, "default", now=now, actor="test")


def answers(store, *, now=NOW + 300):
    """All that is known of the project, but for rows and moments of receipt."""
    patterns = standings(store, now=now)
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        counts = count_outcomes(connection, project_id)
        noted = read_noted_runs(connection, project_id)
        known = {
            "counts": (counts.outcomes, counts.successes, counts.without_verdict),
            "patterns": {
                slug: (asdict(each.evidence), each.facts.last_validated, each.state)
                for slug, each in patterns.items()
            },
            "runs": sorted(
                (run.task_id, run.ended_at, str(run.success), run.patterns, len(run.steps))
                for run in noted
            ),
            "commands": commands(read_tried_runs(connection, project_id, limit=1000)),
            "estimate": asdict(estimate(with_verdict(noted), now=now, half_life_days=90.0).project),
            "process": msgspec.to_builtins(read_snapshot(connection, project_id, RULES, now=now)),
            "criteria": {
                each.criterion: asdict(each.evidence)
                for each in read_criteria(connection, project_id, CRITERIA, now=now)
            },
            "memories": {
                each.id: (each.state.confidence, each.state.type)
                for each in list_memories(connection, project_id)
            },
            "records": {
                each.skill_name: (asdict(each.performance), each.triggers, each.recipe)
                for each in read_competences(connection, project_id)
            },
        }
        known["signatures"] = _rows(
            connection,
            select(
                signatures.c.name, signatures.c.successes, signatures.c.failures,
                signatures.c.latency_sum_ms, signatures.c.last_used_at,
            ).where(signatures.c.successes + signatures.c.failures > 0),
        )  # fmt: skip
        known["facts"] = _rows(
            connection,
            select(
                signatures.c.name, signature_facts.c.kind, signature_facts.c.text,
                signature_facts.c.successes, signature_facts.c.failures,
                signature_facts.c.uses,
            ).join(signatures, signatures.c.id == signature_facts.c.signature_id),
        )  # fmt: skip
        return known


def commands(tried):
    """Return the facts about commands, without the rows of outcomes."""
    history = CallHistory()
    for run in tried:
        history.add(run)
    return {
        key: [(each.says, each.sessions, each.calls, each.since, each.last_at) for each in known]
        for key, known in history.every_failure().items()
    }


def _rows(connection, query):
    return sorted(tuple(row) for row in connection.execute(query))


def alike(left, right):
    """Return whether two answers are the same, floats to nine digits."""
    if isinstance(left, float) and isinstance(right, float):
        return left == pytest.approx(right, rel=1e-9, abs=1e-9)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(alike(left[each], right[each]) for each in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(alike, left, right))
    return left == right


def assert_alike(store, clean, **asked):
    left, right = answers(store, **asked), answers(clean, **asked)
    for name in left:
        assert alike(left[name], right[name]), (name, left[name], right[name])


@pytest.fixture
def clean(memory_store):
    """A store that gets the joined records only."""
    engine = memory_store()
    yield engine
    engine.dispose()


def remember_some(store):
    """Memories that outcomes can confirm and reject; the project's row is the first."""
    with writing(store) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
        for name in ("m1", "m2"):
            remember(
                connection, project_id, f"{name} says {name * 9}",
                memory_id=name, rules=RULES.memories, now=NOW - DAY,
            )  # fmt: skip


FULL = {
    "patterns": ["plan"], "criteria": {"no_bugs": "helpful"},
    "instruction": "Cancel the flight to Oslo", "tool_graph": CALLS, "duration_ms": 900,
    "memory_ids": ["m1"], "process": {"reviews": 2, "rejections": 1},
    "trigger": {"signal": "red", "conditions": {"x": 1}},
}  # fmt: skip


def test_a_later_verdict_takes_the_place_of_the_first(store, clean):
    """All that is counted now is the joined record; when the task ended stays."""
    entries = [
        entry("a", True, outcome_source="tests", **FULL),
        entry("b", True, at=NOW - DAY, **FULL),
        entry("a", False, at=NOW + 50, after=3, failure_mode="reverted"),
    ]
    for each in (store, clean):
        remember_some(each)
    first = told(store, *entries[:2])
    then = told(store, entries[2])
    again = told(store, *entries)
    told(clean, *joined(entries))
    assert (first.recorded, then.amended, then.recorded) == (2, 1, 0)
    assert (again.recorded, again.amended, again.duplicates) == (0, 0, 3)
    assert then.projects == {"default"}
    assert_alike(store, clean)
    assert answers(store)["counts"] == (2, 1, 0)
    assert answers(store)["commands"]["line npm test"][0][1:3] == (2, 2)
    (run,) = [each for each in answers(store)["runs"] if each[0] == "t-a"]
    assert run == ("t-a", NOW, "False", ("plan",), 2)


def test_credit_of_a_record_follows(store):
    """What an outcome credited counts as its joined record says, also computed anew."""
    told(store, entry("a", **FULL), entry("b", **FULL))
    run_consolidation(store)
    with reading(store) as connection:
        (record,) = read_competences(connection, 1)
    used = {"competence_id": record.id, "duration_ms": 50}
    told(store, entry("c", at=NOW + 5, **used), entry("d", at=NOW + 5, **used))
    told(store, entry("c", False, at=NOW + 9, after=40))
    told(store, entry("d", None, at=NOW + 9, after=40, outcome_source="evaluator"))

    def performance():
        with reading(store) as connection:
            (record,) = read_competences(connection, 1)
        found = record.performance
        return found.success_count, found.failure_count, found.latency_sum_ms

    assert performance() == (3, 1, 1900)
    with writing(store) as connection:
        rebuild_credit(connection, 1)
    assert performance()[:2] == (2, 0)  # before the first record was made, nothing is credited


def test_the_memory_of_an_amended_outcome_is_judged_once(store, clean):
    """In the place of the first judgement, though confirming and rejecting stop at bounds."""
    for each in (store, clean):
        remember_some(each)
    first = [entry(f"a{n}", memory_ids=["m1"], after=n) for n in range(6)]
    later = [entry(f"b{n}", False, memory_ids=["m1"], error_count=9, after=10 + n)
             for n in range(3)]  # fmt: skip
    amended = entry("a2", False, at=NOW + 9, after=30, outcome_source="evaluator")
    for each in (*first, *later, amended):
        told(store, each)
    for each in (*first, *later):
        same = json.loads(each.body)["outcome_id"] == "a2"
        body = join([each, amended]).body if same else each.body
        told(clean, OutcomeEntry(body, each.received_at))
    assert answers(store)["memories"] == answers(clean)["memories"]
    told(store, entry("a2", True, at=NOW + 10, after=31, outcome_source="evaluator"))
    with reading(store) as connection:
        actions = changes_of(connection, 1, lambda _at, action, *_: action)
    assert actions[-2:] == ["now rejected", "now confirmed"]


def test_a_pattern_that_no_record_touches_any_more_is_gone(store):
    """But for the past, and for a decision by hand."""
    told(store, entry("a", captured_from="traces", patterns=["plan"], tool_graph=CALLS))
    told(store, entry("a", captured_from="hooks", patterns=["other"], tool_graph=CALLS, after=9))
    assert set(standings(store, now=NOW + 99)) == {"other"}
    rebuild(store, now=NOW + 100)
    assert set(standings(store, now=NOW + 101)) == {"other"}


def test_an_outcome_has_room_for_so_many_entries(store):
    """What adds nothing takes no room; beyond the most, an entry is refused."""
    for number in range(30):
        told(store, entry("a", number % 2 == 0, at=NOW + number, captured_from="hooks",
                          tool_graph=CALLS[:1] * (number + 1)))  # fmt: skip
    with reading(store) as connection:
        assert len(entries_of(connection, [(1, "a")])[1, "a"]) < 5
    many = [
        entry("b", at=NOW + number, **{f"own{number}": 1}) for number in range(MOST_ENTRIES + 5)
    ]
    learnt = told(store, *many)
    assert (learnt.recorded, len(learnt.refused)) == (1, 5)
    assert learnt.recorded + learnt.amended + len(learnt.refused) == len(many)


def test_a_commit_leads_to_its_outcomes(store):
    """By seven digits or more of its hash, in the project alone, also where git told no more."""
    commit = "0123456789abcdef" * 2 + "01234567"
    told(store, entry("a", commits=[commit.upper()]), entry("b", commits=["f" * 40]))
    told(
        store, entry("b", after=3, commits=[commit[:9]]), entry("c", project="p", commits=[commit])
    )
    with reading(store) as connection:
        made = {
            prefix: sorted(run.outcome_id for run in reports_of_runs(connection, 1, commit=prefix))
            for prefix in (commit, commit[:7].upper(), commit[:6], "%%%%%%%")
        }
    assert list(made.values()) == [["a", "b"], ["a", "b"], [], []]


def test_two_workers_amend_one_outcome_at_once(store):
    """Neither loses what the other brings, and each outcome still counts once."""
    told(store, entry("a", **FULL), entry("b", **FULL))
    brought = [
        [entry(name, False, at=NOW + n, after=n, **{f"own{n}": 1}) for name in ("a", "b")]
        for n in range(6)
    ]
    with ThreadPoolExecutor(3) as pool:
        for learnt in pool.map(lambda batch: _told_at_last(store, batch), brought):
            assert learnt.recorded == 0
    with reading(store) as connection:
        for name in ("a", "b"):
            standing = select(outcomes.c.body).where(
                outcomes.c.outcome_id == name, OUTCOME_IS_CURRENT
            )
            last = json.loads(connection.execute(standing).scalar_one())
            assert last.keys() >= {f"own{n}" for n in range(6)}
    assert answers(store)["counts"] == (2, 0, 0)
    assert answers(store)["patterns"]["plan"][0]["succeeded"] == 0


def _told_at_last(store, batch):
    """Deliver a batch again while the database is busy, as the stream does."""
    for _ in range(50):
        try:
            return told(store, *batch)
        except StoreBusy:
            continue
    raise AssertionError


_entries = st.builds(
    lambda name, success, at, after, names, others: entry(
        name, success, at=NOW + at, after=after, **{each: FULL[each] for each in names}, **others
    ),
    st.sampled_from("abc"),
    st.sampled_from([True, False, None]),
    st.sampled_from([-3.0, -DAY, 5.0]),
    st.sampled_from([6.0, 8.0, 12.0]),
    st.sets(st.sampled_from(sorted(FULL.keys() - {"memory_ids"}))),
    st.fixed_dictionaries(
        {},
        optional={
            "outcome_source": st.sampled_from(["evaluator", "tests", "heuristic"]),
            "captured_from": st.sampled_from(["transcript", "hooks"]),
            "error_count": st.sampled_from([0, 9]),
            "strategy": st.sampled_from(["file-based", "risk-based"]),
            "failure_mode": st.just("late"),
        },
    ),
)


def check_history(store, clean, entries, chance):
    """Deliver a history doubled, permuted and in batches, consolidated now and then."""
    delivered = entries + chance.sample(entries, chance.randint(0, len(entries)))
    chance.shuffle(delivered)
    while delivered:
        size = chance.randint(1, 4)
        told(store, *delivered[:size])
        delivered = delivered[size:]
        if chance.random() < 0.3:
            run_consolidation(store)
    told(clean, *joined(entries))
    for each in (store, clean):
        index_past_tasks(each)
        run_consolidation(each, NOW + 210)
    assert_alike(store, clean)
    rebuild(store, now=NOW + 220)
    with writing(store) as connection:
        rebuild_competences(connection, LEARNING, "default", 1, now=NOW + 220)
    assert_alike(store, clean)


@given(st.lists(_entries, min_size=1, max_size=10), st.randoms(use_true_random=False))
@settings(max_examples=22)
def test_any_history_is_that_of_the_joined_records(memory_store, entries, chance):
    """In any order, however often delivered, whatever had been consolidated."""
    stores = [memory_store(), memory_store()]
    check_history(*stores, entries, chance)
    for each in stores:
        each.dispose()


@pytest.mark.parametrize("seed", range(2))
def test_any_history_on_either_database(store, clean, seed):
    """The same on a server."""
    chance = random.Random(seed)
    entries = [
        entry(
            chance.choice("abcdef"), chance.choice([True, False, None]),
            at=NOW - chance.randint(0, 9), after=20.0 + number,
            outcome_source=chance.choice(["explicit", "tests", "evaluator"]),
            **{name: FULL[name] for name in chance.sample(sorted(FULL), 3)},
        )
        for number in range(25)
    ]  # fmt: skip
    check_history(store, clean, entries, chance)
