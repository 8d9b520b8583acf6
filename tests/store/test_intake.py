"""The intake, on both databases: each outcome once, whatever the order, whoever brings it."""

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from tests.store.teaching import DAY, NOW, RULES, known, note_states_of, outcome, standings, teach
from trackrecord.learning.numbers.decay import DecayRules
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import learn
from trackrecord.store.ledger.read import own_items
from trackrecord.store.ledger.subjects import PATTERN
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.recorded_rules import read_bases
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.store.patterns.read import read_changes, read_examples


def changes(store, slug, project="default"):
    with reading(store) as connection:
        project_id = project_id_of(connection, project)
        return read_changes(connection, project_id, slug)


def test_counts_and_decayed_sums_follow_the_rule(store):
    """Σ 2^(−age/90 days) by hand, of what succeeded and of what failed, whatever it scored."""
    teach(
        store,
        [
            outcome(1, patterns=["X"]),
            outcome(2, patterns=["X"], timestamp=NOW - 90 * DAY),
            outcome(3, patterns=["X"], timestamp=NOW - 180 * DAY, helpful=False),
            outcome(4, patterns=["X"], success=False, error_count=0, retry_count=0),
        ],
    )
    evidence = standings(store)["x"].evidence
    assert (evidence.helpful, evidence.neutral, evidence.harmful) == (2, 0, 2)
    assert evidence.decayed_helpful == pytest.approx(1.5)
    assert evidence.decayed_harmful == pytest.approx(1.25)
    later = standings(store, now=NOW + 90 * DAY)["x"].evidence
    assert later.decayed_helpful == pytest.approx(0.75)


def test_an_outcome_touches_a_pattern_once(store):
    """Named, recognised and given as strategy: still one observation, of a strategy."""
    teach(
        store,
        [
            outcome(
                1,
                strategy="split by COMPONENT",
                description="We split by component. Split by component!",
                patterns=["Split by component", "split-by-component"],
            )
        ],
    )
    (standing,) = standings(store).values()
    assert standing.evidence.observations == 1
    assert (standing.facts.kind, standing.facts.content) == ("strategy", "Split by component")


def test_the_same_outcome_counts_once(store):
    """Twice in a batch, again in the next, and under the same id in another project."""
    first = outcome(1, patterns=["x"])
    assert teach(store, [first, first]).duplicates == 1
    assert teach(store, [first]).recorded == 0
    assert teach(store, [outcome(1, patterns=["x"], project="other")]).recorded == 1
    assert standings(store)["x"].evidence.helpful == 1
    assert standings(store, "other")["x"].evidence.helpful == 1


def test_each_change_of_state_is_recorded_once_with_its_numbers(store):
    """Candidate, established, proven, and back; the same state is not reported again."""
    for number in range(7):
        teach(store, [outcome(number, patterns=["x"])])
        note_states_of(store)
    seen = [(each.before, each.after, each.helpful) for each in changes(store, "x")]
    assert seen == [
        (None, "candidate", 1),
        ("candidate", "established", 3),
        ("established", "proven", 5),
    ]


def test_examples_are_the_newest_ten(store):
    """Newest first."""
    teach(store, [outcome(n, patterns=["x"], received=NOW + n) for n in range(15)], now=NOW + 20)
    with reading(store) as connection:
        examples = read_examples(connection, project_id_of(connection, "default"), "x")
    assert [each.task_id for each in examples] == [f"t{n}" for n in range(14, 4, -1)]


@pytest.mark.parametrize("text", ["x" * 128, "𝔘" * 128, "漢" * 128])
def test_the_longest_ids_fit(store, text):
    """128 and 256 characters, also beyond the basic plane."""
    teach(store, [outcome(1, project=text, outcome_id=text, task_id=text * 2)])
    assert known(store)[text].outcomes == 1


def test_a_thousand_patterns_in_one_outcome(store):
    """More rows than one statement's parameters allow on some builds."""
    names = [f"pattern {number}" for number in range(1000)]
    teach(store, [outcome(number, patterns=names) for number in range(8)])
    found = standings(store)
    assert len(found) == 1000
    assert {each.evidence.helpful for each in found.values()} == {8}


def test_moving_the_landmark_changes_no_decayed_number(store):
    """A tiny half-life runs floats out of range after days; the sums are moved in time."""
    decay = DecayRules(half_life_days=0.01)
    teach(store, [outcome(1, patterns=["x"])], rules=replace(RULES, decay=decay))
    with reading(store) as connection:
        before = read_bases(connection, project_id_of(connection, "default"))
    now = NOW
    for number in range(2, 40):
        now += 2 * DAY
        teach(
            store,
            [outcome(number, patterns=["x"], received=now)],
            now=now,
            rules=replace(RULES, decay=decay),
        )
        evidence = standings(store, now=now)["x"].evidence
        assert evidence.decayed_helpful == pytest.approx(1.0)
    with reading(store) as connection:
        after = read_bases(connection, project_id_of(connection, "default"))
    assert after.landmark > before.landmark
    assert standings(store, now=now)["x"].evidence.helpful == 39


def test_a_transaction_that_fails_leaves_nothing(store):
    """What happens after learning, before the commit, undoes all of it."""
    teach(store, [outcome(0, patterns=["x"])])
    before = known(store)
    with suppress(RuntimeError), writing(store) as connection:
        learn(
            connection,
            [outcome(n, patterns=["x", "y"], project=p) for n in range(5) for p in ("a", "b")],
            RULES,
            now=NOW,
        )
        raise RuntimeError
    assert known(store) == before
    with reading(store) as connection:
        assert connection.execute(select(func.count()).select_from(outcomes)).scalar() == 1
        assert (
            connection.execute(select(func.count()).where(own_items(None, PATTERN))).scalar() == 1
        )


def test_workers_at_once_neither_wait_in_a_circle_nor_count_twice(store):
    """Four workers bring overlapping batches in different orders, each outcome three times."""
    names = [f"p{number}" for number in range(12)]
    chance = random.Random(7)
    everything = [
        outcome(n, patterns=chance.sample(names, 3), project=chance.choice(["a", "b"]))
        for n in range(240)
    ]

    def work(seed):
        own = everything[:]
        random.Random(seed).shuffle(own)
        for start in range(0, len(own), 20):
            teach(store, own[start : start + 20])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    found = known(store)
    assert found["a"].outcomes + found["b"].outcomes == 240
    observed = sum(
        sum(numbers[3:6]) for project in found.values() for numbers in project.patterns.values()
    )
    assert observed == 240 * 3
