"""Credit: an outcome that names the record it used adds to it once, in any order, at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from tests.store.teaching import NOW, RULES, outcome, teach
from tests.store.test_choosing import put, record
from tests.store.test_choosing import select as select_best
from trackrecord.learning.competences.record import competence_id
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.competences.read import read_competence, read_competences
from trackrecord.store.competences.rebuild_credit import rebuild_credit
from trackrecord.store.competences.revise import Reviser, Signed
from trackrecord.store.competences.tables import competence_credits
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord_consolidation.rebuild import rebuild_competences
from trackrecord_consolidation.run import consolidate

COMPETENCE = CompetenceRules()


def performance(store, some_id="a"):
    """Return a record's performance."""
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        return read_competence(connection, project_id, some_id).performance


def credits_on_record(store):
    with reading(store) as connection:
        return connection.execute(select(func.count()).select_from(competence_credits)).scalar()


def rebuild(store, now):
    """All that `trackrecord rebuild` does, in its order."""
    with writing(store) as connection:
        project_id = project_id_of(connection, "default")
        rebuild_patterns(connection, project_id, RULES, now=now)
        rebuild_competences(connection, COMPETENCE, "default", project_id, now=now)
        rebuild_credit(connection, project_id)


def test_count_latency_and_last_use(store):
    """In the transaction of the intake: the next reader sees it, and so does selection."""
    project_id = put(store, record("a", good=2))
    teach(
        store,
        [
            outcome(1, competence_id="a", duration_ms=100, timestamp=NOW - 50),
            outcome(2, competence_id="a", helpful=False, duration_ms=300, timestamp=NOW - 9),
            outcome(3, competence_id="a", timestamp=NOW - 70),
            outcome(4),
        ],
    )
    known = performance(store)
    assert (known.success_count, known.failure_count) == (4, 1)
    assert (known.avg_latency_ms, known.last_used_at) == (200, NOW - 9)
    assert select_best(store, project_id).candidates[0].signals.success == pytest.approx(0.8)
    with reading(store) as connection:
        assert read_competences(connection, project_id)[0].performance == known


@pytest.mark.parametrize(
    ("name", "project"),
    [("nobody", "default"), ("", "default"), ("x" * 256, "default"), ("a", "other")],
)
def test_an_unknown_id_credits_nothing(store, name, project):
    """Nor does one of another project; the outcome is learnt all the same."""
    put(store, record("a", good=2))
    assert teach(store, [outcome(1, competence_id=name, project=project)]).recorded == 1
    assert performance(store).success_count == 2
    assert credits_on_record(store) == 0


@settings(max_examples=15)
@given(
    given=st.lists(
        st.tuples(st.booleans(), st.integers(0, 9), st.none() | st.integers(0, 999)), max_size=12
    ),
    data=st.data(),
)
def test_order_and_batches_do_not_matter(memory_store, given, data):
    """Plain sums, and the latest use."""
    outcomes = [
        outcome(n, helpful=good, competence_id="a", duration_ms=took, timestamp=NOW - age)
        for n, (good, age, took) in enumerate(given)
    ]
    shuffled = data.draw(st.permutations(outcomes))
    cut = data.draw(st.integers(0, len(outcomes)))
    found = []
    for batches in ([outcomes], [shuffled[:cut], shuffled[cut:]]):
        store = memory_store()
        put(store, record("a", good=2))
        for batch in batches:
            teach(store, batch)
        found.append(performance(store))
        store.dispose()
    assert found[0] == found[1]
    assert found[0].success_count == 2 + sum(each[0] for each in given)


def learnt_twice(store, **fields):
    """A record that consolidation made of two episodes; answers its id."""
    graph = [{"tool": "build"}, {"tool": "test"}]
    teach(store, [outcome(f"e{n}", tool_graph=graph, received=NOW - 9) for n in range(2)])
    consolidate(store, COMPETENCE, "default", now=NOW, actor="test")
    return competence_id("default", "build+test"), graph


def test_an_episode_of_the_record_itself_counts_once(store):
    """At once, and still once when consolidation has read it."""
    some_id, graph = learnt_twice(store)
    teach(
        store,
        [
            outcome("own", competence_id=some_id, tool_graph=graph, received=NOW + 5),
            outcome("other", competence_id=some_id, tool_graph=[{"tool": "x"}], received=NOW + 5),
            outcome("none", competence_id=some_id, received=NOW + 5),
        ],
        now=NOW + 5,
    )
    assert performance(store, some_id).success_count == 5
    consolidate(store, COMPETENCE, "default", now=NOW + 10, actor="test")
    assert performance(store, some_id).success_count == 5
    consolidate(store, COMPETENCE, "default", now=NOW + 20, actor="test")
    assert performance(store, some_id).success_count == 5


def test_rebuild_computes_it_anew(store):
    """To the same sums; broken ones are repaired."""
    some_id, graph = learnt_twice(store)
    teach(store, [outcome("early", competence_id="nobody")])
    teach(
        store,
        [
            outcome(
                "own", competence_id=some_id, tool_graph=graph, duration_ms=7, received=NOW + 5
            ),
            outcome("none", competence_id=some_id, helpful=False, received=NOW + 6),
        ],
        now=NOW + 6,
    )
    before = performance(store, some_id)
    rebuild(store, NOW + 7)
    assert performance(store, some_id) == before
    consolidate(store, COMPETENCE, "default", now=NOW + 10, actor="test")
    assert performance(store, some_id) == before
    with writing(store) as connection:
        connection.execute(competence_credits.delete())
    rebuild(store, NOW + 20)
    assert performance(store, some_id) == before
    assert credits_on_record(store) == 2


def test_what_came_before_there_was_such_a_record_is_not_credited(store):
    """Not by a rebuild either, which knows the id by then."""
    some_id = competence_id("default", "build+test")
    teach(store, [outcome("early", competence_id=some_id, received=NOW - 20)])
    learnt_twice(store)
    assert performance(store, some_id).success_count == 2
    rebuild(store, NOW + 1)
    assert performance(store, some_id).success_count == 2


def test_intake_consolidation_and_revision_at_once(store):
    """Nobody waits in a circle, and every outcome counts once in the end."""
    graphs = {name: [{"tool": name}] for name in ("x", "y")}
    for name, graph in graphs.items():
        teach(store, [outcome(f"{name}{n}", tool_graph=graph) for n in range(2)])
    consolidate(store, COMPETENCE, "default", now=NOW, actor="test")
    ids = {name: competence_id("default", name) for name in graphs}

    def report(agent):
        for batch in range(8):
            names = sorted(graphs, reverse=bool((agent + batch) % 2))
            teach(store, [used(f"{agent}-{batch}-{name}", name) for name in names])

    def used(number, name):
        return outcome(number, competence_id=ids[name], tool_graph=graphs[name])

    with ThreadPoolExecutor(5) as pool:
        running = [
            *(pool.submit(report, agent) for agent in range(3)),
            pool.submit(_consolidate_often, store),
            pool.submit(_reinforce_often, store, ids.values()),
        ]
        for each in running:
            each.result()
    for some_id in ids.values():
        assert performance(store, some_id).success_count == 2 + 3 * 8
    consolidate(store, COMPETENCE, "default", now=NOW + 9, actor="test")
    for some_id in ids.values():
        assert performance(store, some_id).success_count == 2 + 3 * 8


def _consolidate_often(store):
    for turn in range(4):
        consolidate(store, COMPETENCE, "default", now=NOW + turn, actor="test")


def _reinforce_often(store, ids):
    for turn in range(4):
        for each in sorted(ids, reverse=bool(turn % 2)):
            with writing(store) as connection:
                Reviser(connection, 1, COMPETENCE, Signed("ada", "seen", NOW)).reinforce(each)
