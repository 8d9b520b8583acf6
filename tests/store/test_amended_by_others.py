"""Entries of several speakers under one id: nobody rewrites, or keeps out, another one's run."""

import itertools
import json

import pytest
from teaching import NOW, RULES, SCORER, standings, teach

from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.amending import MOST_ENTRIES
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.outcomes.projects import count_outcomes, project_id_of
from trackrecord.wire.outcome import decode_outcome


def entry(source, success=True, *, after=0.0, **fields):
    """An entry of a source about the outcome `ci-1`, scored."""
    given = {
        "outcome_id": "ci-1", "task_id": "t", "success": success, "timestamp": NOW,
        "source": source,
    }  # fmt: skip
    body = json.dumps(given | fields).encode()
    return SCORER.score(decode_outcome(body), body, received_at=NOW + 1 + after, outcome_id="none")


HONEST = entry("honest", outcome_source="tests", patterns=["good"])


def counted(store):
    """Each pattern's helpful and harmful outcomes, and how many outcomes are on record."""
    found = standings(store, now=NOW + 500)
    with reading(store) as connection:
        counts = count_outcomes(connection, project_id_of(connection, "default"), None)
    return counts.outcomes, {
        slug: (each.evidence.helpful, each.evidence.harmful) for slug, each in found.items()
    }


def test_others_do_not_turn_a_tested_run_around(store):
    """Two dozen evaluators by name change nothing about what the run's own tests say."""
    teach(store, [HONEST], now=NOW + 100)
    claims = [entry(f"rogue-{n}", False, after=n, outcome_source="evaluator") for n in range(24)]
    teach(store, claims, now=NOW + 200)
    assert counted(store) == (1, {"good": (1, 0)})


@pytest.mark.parametrize("tells", [{}, {"patterns": ["bad"]}])
def test_an_id_cannot_be_squatted(store, tells):
    """Neither what fills the limit before the run comes, nor a whole run, keeps it out."""
    rogue = [
        entry(
            "rogue", False, after=n / 1000, criteria={f"c{n}": "harmful"}, commits=[f"{n:040}"],
            **tells,
        )
        for n in range(MOST_ENTRIES + 20)
    ]  # fmt: skip
    teach(store, rogue, now=NOW + 100)
    learnt = teach(store, [HONEST], now=NOW + 200)
    assert not learnt.refused
    outcomes, patterns = counted(store)
    assert patterns["good"] == (1, 0)
    assert outcomes == (2 if tells else 1)
    amended = entry("honest", False, after=3, outcome_source="tests", timestamp=NOW + 9)
    teach(store, [amended], now=NOW + 300)
    assert counted(store)[1]["good"] == (0, 1)
    assert teach(store, [HONEST, amended], now=NOW + 300).duplicates == 2
    assert counted(store)[1]["good"] == (0, 1)


def test_runs_of_one_id_are_counted_apart_in_any_order(memory_store):
    """With what each says of its own run, one by one or at once; a rebuild counts the same."""
    entries = [
        HONEST,
        entry("honest", False, after=3, outcome_source="tests", timestamp=NOW + 9),
        entry("rogue", after=1, patterns=["bad"]),
        entry("rogue", False, after=2, timestamp=NOW + 8),
    ]
    for order in itertools.permutations(entries):
        for batches in ([order], [[each] for each in order], [order[:2], order[2:], order]):
            store = memory_store()
            for batch in batches:
                teach(store, batch, now=NOW + 100)
            assert counted(store) == (2, {"good": (0, 1), "bad": (0, 1)})
            with writing(store) as connection:
                project_id = project_id_of(connection, "default")
                rebuild_patterns(connection, project_id, RULES, now=NOW + 200)
            assert counted(store) == (2, {"good": (0, 1), "bad": (0, 1)})
            store.dispose()
