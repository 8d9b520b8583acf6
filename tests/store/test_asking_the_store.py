"""What can be asked of a store: the same answers in memory, on disk and from PostgreSQL."""

import pytest

from tests.store.teaching import DEFAULTS, NOW, RULES, outcome, teach
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.store.criteria.feedback import feedback_of_criterion
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.read import PatternFilter, read_examples, read_standings

ALL = 10**6


@pytest.fixture(params=["memory", "disk", "postgresql"])
def any_store(request):
    """An empty store of each kind."""
    if request.param == "memory":
        engine = request.getfixturevalue("memory_store")()
    elif request.param == "disk":
        engine = request.getfixturevalue("new_store")()
    else:
        engine = connect_store(request.getfixturevalue("migrated_postgres_url"), timeout_s=20.0)
    yield engine
    engine.dispose()


def asked(store, question, *arguments, project="default", **options):
    with reading(store) as connection:
        return question(connection, project_id_of(connection, project), *arguments, **options)


def teach_criteria(store):
    """Two tasks with two outcomes each, one of which names criteria; another project beside."""
    teach(
        store,
        [
            outcome("a1", task_id="a", received=NOW - 40),
            outcome("a2", task_id="a", received=NOW - 30, criteria={"own": "harmful"}),
            outcome("b1", task_id="b", received=NOW - 20, helpful=False),
            outcome("b2", task_id="b", received=NOW - 10, criteria={"readable": "neutral"}),
            outcome("c1", task_id="a", project="other", criteria={"own": "helpful"}),
        ],
    )


def said(feedback):
    return [(each.outcome_id, each.criterion, each.verdict, each.value) for each in feedback]


def test_feedback_by_criterion(any_store):
    """Of outcomes that name it and, for a default criterion, of all others; newest first."""
    teach_criteria(any_store)
    found = said(asked(any_store, feedback_of_criterion, "readable", DEFAULTS))
    assert found == [
        ("ob2", "readable", "neutral", 0.0),
        ("ob1", "readable", "harmful", 0.875),
        ("oa2", "readable", "helpful", 1.0),
        ("oa1", "readable", "helpful", 1.0),
    ]
    assert said(asked(any_store, feedback_of_criterion, "own", DEFAULTS)) == [
        ("oa2", "own", "harmful", 1.0)
    ]
    assert len(asked(any_store, feedback_of_criterion, "readable", DEFAULTS, limit=1)) == 1
    assert asked(any_store, feedback_of_criterion, "nothing", DEFAULTS) == []


def teach_patterns(store):
    teach(
        store,
        [outcome(f"a{n}", patterns=["Plan Ahead"], received=NOW - n) for n in range(6)]
        + [outcome(f"b{n}", helpful=False, patterns=["Big bang"]) for n in range(3)]
        + [outcome("c", strategy="Split by component")]
        + [outcome("d", patterns=["Plan Ahead"], project="other")],
    )


@pytest.mark.parametrize(
    ("wanted", "slugs"),
    [
        ({}, {"plan-ahead", "big-bang", "split-by-component"}),
        ({"tag": "strategy"}, {"split-by-component"}),
        ({"tag": "named"}, {"plan-ahead", "big-bang"}),
        ({"content": "BANG"}, {"big-bang"}),
        ({"content": "%"}, set()),
        ({"only_anti": True}, {"big-bang"}),
        ({"state": Maturity.PROVEN}, {"plan-ahead"}),
        ({"state": Maturity.CANDIDATE}, {"split-by-component"}),
        ({"state": Maturity.DEPRECATED}, {"big-bang"}),
        ({"state": Maturity.ESTABLISHED}, set()),
        ({"content": "bang", "state": Maturity.PROVEN}, set()),
    ],
)
def test_patterns_by_state_tag_content_and_anti_patterns_only(any_store, wanted, slugs):
    """What is not asked for does not matter."""
    teach_patterns(any_store)
    found = asked(any_store, read_standings, RULES, now=NOW, wanted=PatternFilter(**wanted))
    assert {each.facts.slug for each in found} == slugs


def test_a_pattern_by_its_id(any_store):
    """One or none."""
    teach_patterns(any_store)
    (found,) = asked(any_store, read_standings, RULES, now=NOW, slug="plan-ahead")
    assert found.evidence.helpful == 6
    assert asked(any_store, read_standings, RULES, now=NOW, slug="anything") == []


def test_the_feedback_of_a_pattern(any_store):
    """Each observation that its maturity comes from, newest first; as many as are wanted."""
    teach_patterns(any_store)
    found = asked(any_store, read_examples, "plan-ahead", most=ALL)
    assert [(each.outcome_id, each.verdict) for each in found] == [
        (f"oa{n}", "helpful") for n in range(6)
    ]
    assert len(asked(any_store, read_examples, "plan-ahead", most=2)) == 2
