"""Feedback on one pattern, criterion or memory alone: counted once, whatever happens to it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.store.teaching import NOW, RULES, known, outcome, rebuild, standings, teach
from trackrecord.errors import InvalidCursor
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.texts import PatternWording, pattern_line
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.experience.criteria import details_of
from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord.store.criteria.sums import read_criteria
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.intake.feedback import take_in_feedback
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.read import find_memory
from trackrecord.store.memories.write import forget, remember
from trackrecord.store.outcomes.feedback.feedback import (
    FeedbackFilter,
    GivenFeedback,
    read_feedback,
)
from trackrecord.store.outcomes.projects import project_id_of

HELPFUL, NEUTRAL, HARMFUL = Verdict.HELPFUL, Verdict.NEUTRAL, Verdict.HARMFUL


def verdict(number, says=HELPFUL, subject="pattern", name="x", *, at=NOW, given=None):
    moment = at if given is None else given
    return GivenFeedback(f"f{number}", subject, name, says, moment, at)


def give(store, *feedback, now=NOW, project="default"):
    with writing(store) as connection:
        project_id = ensure_projects(connection, [project])[project]
        return take_in_feedback(connection, project_id, feedback, RULES, now=now)


def criteria(store, *, now=NOW):
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        found = read_criteria(connection, project_id, RULES.criteria, now=now)
    return {
        each.criterion: (
            each.evidence.helpful, each.evidence.neutral, each.evidence.harmful,
            float(f"{each.evidence.decayed_helpful:.9g}"),
            float(f"{each.evidence.decayed_harmful:.9g}"),
            each.evidence.last_validated, each.deprecated,
        )
        for each in found
    }  # fmt: skip


def test_a_verdict_on_a_pattern_counts_as_that_of_an_outcome(store):
    """Its sums, its state and when it was last validated; not the tasks that it was used in."""
    teach(store, [outcome(1, patterns=["x"])])
    given = [verdict(n, at=NOW + n) for n in range(3)]
    give(store, *given, verdict(3, HARMFUL), verdict(4, NEUTRAL), now=NOW + 9)
    found = standings(store, now=NOW + 9)["x"]
    evidence = found.evidence
    assert (evidence.helpful, evidence.neutral, evidence.harmful) == (4, 1, 1)
    assert (evidence.observations, evidence.succeeded, evidence.feedback) == (1, 1, 5)
    assert found.state is Maturity.ESTABLISHED
    assert found.facts.last_validated == NOW + 2
    line = pattern_line(PatternWording("x", found.state, evidence))
    assert line == (
        '- an agent\'s strategy "x" '
        "[ESTABLISHED - 1 of 1 run succeeded, 3 of 5 verdicts by feedback helpful]"
    )


def test_the_same_id_counts_once(store):
    """In one batch, in a later one, and with another verdict."""
    teach(store, [outcome(1, patterns=["x"])])
    assert len(give(store, verdict(1), verdict(1))) == 1
    assert give(store, verdict(1), verdict(1, HARMFUL)) == ()
    assert standings(store)["x"].evidence.helpful == 2
    give(store, verdict(1), project="other")
    assert standings(store)["x"].evidence.helpful == 2


def test_an_unknown_pattern_is_not_created_and_counts_once_it_is_named(store):
    """Whoever comes first; it is listed as waiting until then."""
    give(store, verdict(1), verdict(2, HARMFUL, name="y"))
    assert standings(store) == {}
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        waiting = read_feedback(connection, project_id, FeedbackFilter(is_waiting=True))
        assert [given.name for given, _ in waiting] == ["x", "y"]
    teach(store, [outcome(1, patterns=["x"])])
    assert list(standings(store)) == ["x"]
    assert standings(store)["x"].evidence.helpful == 2
    teach(store, [outcome(2, patterns=["x", "y"])])
    found = standings(store)
    assert (found["x"].evidence.helpful, found["x"].evidence.feedback) == (3, 1)
    assert (found["y"].evidence.harmful, found["y"].evidence.observations) == (1, 1)


def test_an_amended_outcome_that_names_a_pattern_finds_its_feedback(store):
    """And when it names it no more, what was given by feedback stays."""
    give(store, verdict(1, at=NOW))
    teach(store, [outcome(1, patterns=["y"], timestamp=NOW - 9)])
    amended = outcome(
        1, patterns=["x"], timestamp=NOW - 9, received=NOW + 1, tool_graph=[{"tool": "a"}]
    )
    teach(store, [amended], now=NOW + 1)
    assert standings(store, now=NOW + 1)["x"].evidence.helpful == 2
    assert standings(store, now=NOW + 1)["x"].facts.last_validated == NOW
    again = outcome(
        1, patterns=["z"], timestamp=NOW - 9, received=NOW + 2, tool_graph=[{"tool": "a"}] * 2
    )
    teach(store, [again], now=NOW + 2)
    live = standings(store, now=NOW + 2)["x"]
    assert (live.evidence.helpful, live.evidence.feedback) == (1, 1)
    assert live.facts.last_validated == NOW
    rebuild(store, now=NOW + 2)
    assert standings(store, now=NOW + 2)["x"] == live


def test_feedback_on_a_criterion(store):
    """Of full value, and last validated by whatever the verdict; one that is new is created."""
    teach(store, [outcome(1)])
    before = criteria(store)
    give(
        store, verdict(1, HARMFUL, "criterion", "no_bugs"),
        verdict(2, NEUTRAL, "criterion", "own", at=NOW + 5), now=NOW + 5,
    )  # fmt: skip
    after = criteria(store, now=NOW + 5)
    assert after["no_bugs"][:3] == (before["no_bugs"][0], 0, 1)
    assert after["own"] == (0, 1, 0, 0.0, 0.0, NOW + 5, False)


def test_feedback_on_a_memory_confirms_or_rejects_it(store):
    """Once each, also if it came before the memory; a neutral verdict judges nothing."""
    give(
        store, verdict(1, HELPFUL, "memory", "m"), verdict(2, HELPFUL, "memory", "m", at=NOW + 1),
        verdict(3, NEUTRAL, "memory", "m"), now=NOW + 1,
    )  # fmt: skip

    def confidence():
        with reading(store) as connection:
            project_id = project_id_of(connection, "default")
            return find_memory(connection, project_id, "m").state.confidence

    with writing(store) as connection:
        project_id = project_id_of(connection, "default")
        remember(connection, project_id, "Use uv", memory_id="m", rules=RULES.memories, now=NOW)
    assert confidence() == 0.7
    give(store, verdict(4, HARMFUL, "memory", "m"), verdict(4, HARMFUL, "memory", "m"))
    give(store, verdict(4, HARMFUL, "memory", "m"))
    assert confidence() == 0.55
    with writing(store) as connection:
        forget(connection, project_id, "m", now=NOW)
        assert read_feedback(connection, project_id) == []


@pytest.mark.parametrize("size", [1, 2, 5])
def test_feedback_to_a_criterion_comes_in_pages(store, size):
    """Each piece once, newest first, whatever it came by; also among those of one moment."""
    teach(store, [outcome(n, received=NOW + n % 3) for n in range(5)], now=NOW + 3)
    named = [outcome(n, received=NOW + n % 3, criteria={"no_bugs": "harmful"}) for n in range(5, 9)]
    teach(store, named, now=NOW + 3)
    give(
        store, *(verdict(n, HELPFUL, "criterion", "no_bugs", at=NOW + n % 3) for n in range(4)),
        now=NOW + 3,
    )  # fmt: skip
    settings = replace(load_daemon_settings(), criteria=RULES.criteria)
    with reading(store) as connection:
        it = Transaction(connection, settings, "default")
        whole = details_of(it, "no_bugs", limit=100)
        assert whole.cursor is None
        pages, cursor = [], None
        while True:
            page = details_of(it, "no_bugs", limit=size, after=cursor)
            pages += page.feedback
            cursor = page.cursor
            if cursor is None:
                break
            assert len(page.feedback) == size
        assert pages == list(whole.feedback)
        assert len({(each.outcome_id, each.feedback_id) for each in pages}) == 13
        moments = [each.received_at for each in pages]
        assert moments == sorted(moments, reverse=True)
        for wrong in ("", "nonsense", "W10", whole.feedback[0].outcome_id or "x"):
            with pytest.raises(InvalidCursor):
                details_of(it, "no_bugs", after=wrong)


def test_two_workers_at_once(store, store_url):
    """One learns outcomes that name new patterns while the other gets feedback on them, doubled."""
    names = [f"p{number}" for number in range(12)]
    started = threading.Barrier(3)

    def run(tell, told):
        engine = connect_store(store_url, timeout_s=60.0)
        started.wait()
        for name in told:
            tell(engine, name)
        engine.dispose()

    def judge(engine, name):
        give(engine, verdict(name, HARMFUL, name=name))

    def learn(engine, name):
        teach(engine, [outcome(name, patterns=[name, "shared"])])

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(run, (judge, judge, learn), (names, names[::-1], names)))
    found = standings(store)
    assert {name: found[name].evidence.harmful for name in names} == dict.fromkeys(names, 1)
    assert found["shared"].evidence.helpful == len(names)
    before = known(store)
    rebuild(store)
    assert known(store) == before
