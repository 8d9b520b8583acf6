"""Where success is rare, every pattern is deprecated by its own rate, and one is still the best."""

import re

import msgspec
import pytest

from tests.store.teaching import learn_reports
from tests.support.prompt_answers import answer_from
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.patterns.decisions import DecisionAction
from trackrecord.prompt.choosing.exposure import TRIED, TRIED_ANYWAY, exposure_plan_of
from trackrecord.prompt.documents.rankings_document import (
    ProjectDocuments,
    decode_document,
    encode_document,
)
from trackrecord.prompt.question.question import PromptQuestion
from trackrecord.resources.prompt_documents.advice import count_advice
from trackrecord.resources.prompt_documents.prompt_document import rank_project
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.decide import decide

RULES = DaemonSettings().rules
NOW = 1_780_000_000.0
TASK = "resolve the issue"
# Of so many tasks so many succeeded.
HARD = {"plan first": (14, 40), "retry": (8, 40), "guess": (0, 40), "ask": (0, 1), "skip": (1, 4)}
# Enough to be sure.
SURE = {**HARD, "plan first": (28, 80), "retry": (12, 80), "guess": (0, 80)}
LINE = re.compile(
    r"- (.+) \[(\d+) of (\d+) runs succeeded, (\d+) points above what such tasks do otherwise\]"
)


@pytest.fixture
def hard(store):
    """A store whose tasks mostly fail, with each strategy at the same kind of task."""
    return learn_all(store, HARD)


def learn_all(store, counts):
    reports = [
        {
            "outcome_id": f"{said} {number}", "task_id": f"{said} {number}", "project": "default",
            "success": number < successes, "instruction": TASK, "patterns": [said],
            "timestamp": NOW - number,
        }
        for said, (successes, tasks) in counts.items()
        for number in range(tasks)
    ]  # fmt: skip
    learn_reports(store, reports, RULES, now=NOW)
    return store


def documents(store):
    with reading(store) as connection:
        rankings, _ = rank_project(connection, "default", RULES, now=NOW)
        advice, _ = count_advice(connection, "default", RULES, now=NOW)
    # Draws depend on the revision, which follows the clock.
    rankings = msgspec.structs.replace(rankings, revision=1)
    return decode_document(encode_document(rankings)), advice


def asked(rankings, advice, *, task=TASK, task_id="t", explore="off", **more):
    question = PromptQuestion("default", task, task_id=task_id)
    known = ProjectDocuments(rankings, advice)
    exposure_plan = exposure_plan_of(question, known, holdout=0.0, explore=explore)
    wanted = {"budget": 400, "limit": None, "language": "en", **more}
    return answer_from(
        rankings, project="default", problem=None, task=task, now=NOW,
        memory_rules=MemoryRules(), advice=advice, exposure_plan=exposure_plan, **wanted,
    )  # fmt: skip


def test_the_best_is_recommended_with_its_numbers(store):
    """And not warned of; what really does worse is still warned of."""
    rankings, advice = documents(learn_all(store, SURE))
    assert [each.id for each in rankings.patterns] == ["ask"]
    for task in (TASK, None):
        answer = asked(rankings, advice, task=task)
        said, won, tasks, points = next(
            found for found in map(LINE.fullmatch, answer.prompt.split("\n")) if found
        ).groups()
        assert (said, won, tasks) == ('an agent\'s strategy "plan first"', "28", "80")
        (effect,) = (each.expected.effect for each in advice.patterns if each.slug == "plan-first")
        assert int(points) == round(100 * effect) >= 1
        assert 'strategy "plan first". Failed' not in answer.prompt
        assert 'AVOID: an agent\'s strategy "guess"' in answer.prompt
        assert {each.id for each in answer.told["patterns"]} >= {"plan-first"}
        (entry,) = (each for each in answer.told["patterns"] if each.id == "plan-first")
        assert (entry.state, entry.label, entry.is_negative) == ("candidate", "candidate", False)
        assert (entry.success_count + entry.failure_count) == 80


def test_what_a_person_has_decided_is_never_recommended_against_them(hard):
    """Deprecated by hand is deprecated, however such tasks go with it."""
    with writing(hard) as connection:
        decide(
            connection, project_id_of(connection, "default"), "plan-first",
            DecisionAction.DEPRECATE, actor="ada", reason="", rules=RULES, now=NOW,
        )  # fmt: skip
    rankings, advice = documents(hard)
    for number in range(40):
        answer = asked(rankings, advice, task_id=f"t{number}", explore="full")
        assert "plan-first" not in {each.id for each in answer.told["patterns"]}


def test_exploring_reaches_every_pattern(hard):
    """Marked, the same on a retry; nobody is told to do and to avoid the same."""
    rankings, advice = documents(hard)
    usual = {each.id for each in asked(rankings, advice).told["patterns"]}
    reached = set()
    for number in range(99):
        answer = asked(rankings, advice, task_id=f"t{number}", explore="full")
        again = asked(rankings, advice, task_id=f"t{number}", explore="full")
        assert (again.prompt, again.told["patterns"]) == (answer.prompt, answer.told["patterns"])
        assert not {f"anti-{each.id}" for each in answer.told["patterns"]} & {
            each.id for each in answer.told["anti_patterns"]
        }
        for entry in answer.told["patterns"]:
            (line,) = (each for each in answer.prompt.split("\n") if f'"{entry.content}" [' in each)
            assert entry.id in usual or line.endswith((TRIED["en"], TRIED_ANYWAY["en"]))
        assert len({each.id for each in answer.told["patterns"]} - usual) <= 2
        reached |= {each.id for each in answer.told["patterns"]}
    assert usual == {"plan-first"}
    assert reached >= {"plan-first", "ask", "skip", "retry"}
