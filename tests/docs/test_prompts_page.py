"""prompts.md says what the code says: weights, ratios, kinds, reasons."""

import re
from typing import get_args

from tests.docs.documentation import tables, text_of
from trackrecord.prompt.answers.context_answer import Reason
from trackrecord.prompt.candidates.candidate import ContentType, Kind
from trackrecord.prompt.candidates.rank import rank
from trackrecord.prompt.question.rules import ContextRules

PAGE = "docs/prompts.md"
RULES = ContextRules()


def _table(first):
    (found,) = [table for table in tables(text_of(PAGE)) if table[0][0] == first]
    return found[1:]


def test_what_metadata_adds():
    """The numbers of the table are what such a candidate scores."""
    said = {re.findall(r"`(\w+)`", row[0])[0]: row[1] for row in _table("metadata")}
    for name in ("isCurrentTask", "isBlockedTask", "hasFailure", "hasSuccess", "hasEvidence"):
        (entry,) = rank([{"id": "x", "kind": "task", "text": "", "metadata": {name: True}}]).entries
        assert float(said[name]) == entry.score
    assert float(said["phase"]) == RULES.phase_weight
    assert f"{RULES.decision_recency_weight}, halved" in said["decisionAgeHours"]
    assert f"each {RULES.half_life_hours:.0f} hours" in said["decisionAgeHours"]
    assert RULES.dependency_proximity_weight == 1
    ratios = [getattr(RULES, f"{name}_ratio") for name in get_args(ContentType)]
    assert [float(each) for each in re.findall(r"0\.\d+", said["contentType"])] == ratios
    assert re.findall(r"`(\w+)`", said["contentType"]) == list(get_args(ContentType))


def test_kinds_and_reasons():
    """All of them, in their order."""
    fields = {row[0].strip("`"): row[1] for row in _table("field")}
    assert re.findall(r"`(\w+)`", fields["kind"]) == list(get_args(Kind))
    reasons = [row[0].strip("`") for row in _table("reason of what was left out")]
    assert reasons == list(get_args(Reason))
