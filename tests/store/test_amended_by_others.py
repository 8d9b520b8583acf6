"""Entries of several speakers under one id: nobody rewrites, or keeps out, another one's run."""

import itertools
import json

import pytest

from tests.store.teaching import NOW, SCORER, rebuild, standings, teach
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.store.database.engine import reading
from trackrecord.store.intake.amending import MOST_ENTRIES
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
        counts = count_outcomes(connection, project_id_of(connection, "default"))
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
    for order in list(itertools.permutations(entries))[::3]:
        for batches in ([order], [[each] for each in order], [order[:2], order[2:], order]):
            store = memory_store()
            for batch in batches:
                teach(store, batch, now=NOW + 100)
            assert counted(store) == (2, {"good": (0, 1), "bad": (0, 1)})
            rebuild(store, now=NOW + 200)
            assert counted(store) == (2, {"good": (0, 1), "bad": (0, 1)})
            store.dispose()


def outcomes_of(source, pattern, count, *, success=True, kind="tests", **fields):
    """Outcomes of a source that name a pattern, each with an id of its own."""
    found = []
    for number in range(count):
        name = f"{source}-{pattern}-{success}-{number}"
        given = {
            "outcome_id": name, "task_id": name, "success": success, "source": source,
            "outcome_source": kind, "patterns": [pattern], "timestamp": NOW,
            "error_count": 0 if success else 9,
        }  # fmt: skip
        body = json.dumps(given | fields).encode()
        found.append(
            SCORER.score(decode_outcome(body), body, received_at=NOW + 1, outcome_id="none")
        )
    return found


def state_of(store, pattern, **asked):
    """The state of a pattern, and whether it is warned of."""
    found = standings(store, now=NOW + 500, **asked)[pattern]
    return found.state, found.is_inverted


def test_agents_of_one_user_are_one_source(store):
    """Claude Code and Codex, whose sessions are read on one machine, need nobody to agree."""
    teach(store, outcomes_of("claude-code", "plan", 5, captured_from="hooks"), now=NOW + 100)
    teach(store, outcomes_of("codex", "other", 5, captured_from="transcript"), now=NOW + 100)
    teach(store, outcomes_of("claude-code", "mcp", 5, reporter="@local"), now=NOW + 100)
    for pattern in ("plan", "other", "mcp"):
        assert state_of(store, pattern) == (Maturity.PROVEN, False)


def test_claims_weigh_less_than_tests(store):
    """What only the agent says counts half, of what is tested as well; else it counts in full."""
    teach(store, outcomes_of("one", "tested", 4), now=NOW + 100)
    teach(store, outcomes_of("two", "claimed", 4, kind="explicit"), now=NOW + 100)
    for kind, source in (("tests", "one"), ("explicit", "two")):
        teach(store, outcomes_of(source, "both", 4, kind=kind), now=NOW + 100)
    found = standings(store, now=NOW + 100)
    tested, claimed, both = (
        found[slug].evidence.decayed_helpful for slug in ("tested", "claimed", "both")
    )
    assert tested == pytest.approx(claimed)
    assert both == pytest.approx(1.5 * tested)


def test_amended_evidence_is_that_of_who_amended(store):
    """What an evaluator says of a run without a verdict counts as the evaluator's word."""
    run = outcomes_of("mine", "plan", 1, success=None)[0]
    teach(store, [run], now=NOW + 100)
    teach(store, outcomes_of("other", "plan", 1), now=NOW + 100)
    body = json.dumps({
        "outcome_id": run.outcome_id, "task_id": "t", "success": True, "source": "judge",
        "outcome_source": "evaluator",
    }).encode()  # fmt: skip
    judged = SCORER.score(decode_outcome(body), body, received_at=NOW + 9, outcome_id="none")
    teach(store, [judged], now=NOW + 200)
    (plan,) = standings(store, now=NOW + 300).values()
    assert [each.speaker for each in plan.evidence.speakers] == ["judge", "other"]
