"""Record documents: everything that the specification names, ready for JSON."""

import json

import pytest

from trackrecord.learning.competences.document import RecordReading, document_of
from trackrecord.learning.competences.episodes.tally import Episode, EpisodeTally
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.update import RecordUpdate, Signature, follow
from trackrecord.learning.numbers.decay import DAY


def test_a_document_says_it_all():
    """Also what is found when it is read: salience now, fallbacks, the episodes."""
    tally = EpisodeTally()
    for _ in range(2):
        tally.add(Episode(("go_build", "go_test"), True, 50.0, duration_ms=7, signal="red build"))
    change = follow(CompetenceRules(), Signature("p", "go_build+go_test", tally), None, 100.0)
    assert isinstance(change, RecordUpdate)
    reading = RecordReading(
        50.0 + 30 * DAY, fallbacks=["other"], episodes=2, outcome_ids=["o1", "o2"]
    )
    document = document_of(change.record, reading)
    assert json.loads(json.dumps(document)) == document
    assert document["salience_now"] == pytest.approx(0.5)
    assert document["salience"] == 1.0
    assert document["fallbacks"] == ["other"]
    assert document["provenance"] == {"episodes": 2, "derived_from": ["o1", "o2"]}
    assert document["relations"][1] == {"predicate": "derived_from", "target_id": "o2"}
    assert document["triggers"] == [
        {
            "signal": "red build",
            "conditions": None,
            "further_conditions": [],
            "success_count": 2,
            "failure_count": 0,
            "count": 2,
        }
    ]
    assert document["recipe"][0] == {
        "step": 1, "tool": "go_build", "args_schema": {}, "validation": ["go_test"],
    }  # fmt: skip
    assert document["performance"] == {
        "success_count": 2,
        "failure_count": 0,
        "success_rate": 1.0,
        "avg_latency_ms": 7.0,
        "last_used_at": 50.0,
    }
