"""The advice document: counted from the runs of one project, as of any moment."""

import msgspec

from tests.support.prompt_answers import answer_from
from trackrecord.prompt.documents.advice_document import decode_advice, encode_advice
from trackrecord.resources.prompt_documents.advice import count_advice
from trackrecord.resources.prompt_documents.prompt_document import rank_project
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import learn
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord.wire.outcome_scorer import scorer_of

RULES = DaemonSettings().rules
NOW = 1_780_000_000.0
TEXTS = ("book a flight to Seattle", "cancel the booking", "refund a cancelled flight")


def outcomes(project="default"):
    """Thirty runs of three texts; every third booking fails for want of a seat."""
    scorer = scorer_of(RULES)
    for number in range(30):
        failed = number % 9 == 0
        calls = [
            {"tool": "find", "ok": True},
            {"tool": "book", "ok": not failed, **({"error": "no seat 7"} if failed else {})},
        ]
        body = encode_body(
            {
                "outcome_id": f"o{number}", "task_id": f"t{number // 2}", "project": project,
                "success": not failed, "instruction": TEXTS[number % 3],
                "tool_graph": calls if number % 3 == 0 else calls[:1],
                "patterns": ["ask first"] if number % 2 else [], "timestamp": NOW - number,
            }
        )  # fmt: skip
        yield scorer.score(decode_outcome(body), body, received_at=NOW - number, outcome_id="none")


def teach(store, batch):
    """Learn outcomes."""
    with writing(store) as connection:
        learn(connection, batch, RULES, now=NOW)


def advice(store, project="default", **asked):
    """The advice of a project, but for its revision, which follows the clock."""
    with reading(store) as connection:
        found, _ = count_advice(connection, project, RULES, now=NOW, **asked)
    return msgspec.structs.replace(found, revision=0)


def test_advice_is_counted_from_all_runs(store):
    """Every procedure, pattern, kind and text; an agent decodes what the worker encoded."""
    teach(store, list(outcomes()))
    found = advice(store)
    assert decode_advice(encode_advice(found)) == found
    assert found.runs == 30
    assert (found.expected.runs, found.expected.successes) == (30, 26)
    by_signature = {entry.signature: entry.expected for entry in found.procedures}
    assert {name: (each.runs, each.successes) for name, each in by_signature.items()} == {
        "book+find": (10, 6),
        "find": (20, 20),
    }
    assert [entry.slug for entry in found.patterns] == ["ask-first"]
    (booking, _), *_ = found.past_tasks.index.similar("book a flight", most=3)
    assert sum(successes for _, successes, *_ in found.past_tasks.runs[booking]) == 6
    assert len(found.kinds) > max(found.past_tasks.kinds[::4])


def told(store, task, **more):
    """Return a task's prompt."""
    with reading(store) as connection:
        document, _ = rank_project(connection, "default", RULES, now=NOW)
    return answer_from(
        document, project="default", problem=None, task=task, limit=None, language="en", now=NOW,
        memory_rules=RULES.memories, advice=advice(store), **{"budget": 400, **more},
    )  # fmt: skip


def reported(number, *, success, task_id=None, **more):
    """An outcome; those of higher numbers ended later."""
    scorer, at = scorer_of(RULES), NOW - 1000 + number
    body = encode_body(
        {
            "outcome_id": f"o{number}", "task_id": task_id or f"t{number}", "project": "default",
            "success": success, "timestamp": at, **more,
        }
    )  # fmt: skip
    return scorer.score(decode_outcome(body), body, received_at=at, outcome_id="none")


LOOK = {"tool": "look"}


def web_app():
    """Tasks of a web shop: many run vitest, which is not found; some install with npm."""
    failing = {"ok": False, "error": "sh: vitest: command not found"}
    unresolved = {"ok": False, "error": "npm ERR! code ERESOLVE: unable to resolve dependency tree"}
    for number in range(60):
        if number % 6:
            calls = [{"tool": "shell:npx vitest", **failing}, {"tool": "shell:npm test"}, LOOK]
            text = f"Fix the {['cart', 'page', 'form', 'menu', 'list'][number % 5]} of the shop"
        else:
            calls = [
                {"tool": "shell:npm install", **unresolved}, {"tool": "shell:pnpm install"}, LOOK,
            ]  # fmt: skip
            text = f"Add the {['chart', 'map', 'table'][number // 6 % 3]} library"
        yield reported(number, success=True, instruction=text, tool_graph=calls)


def test_lessons_by_the_words_of_the_task(store):
    """What it names is told, with what then worked, and not what most other tasks meet."""
    teach(store, list(web_app()))
    for task in (
        "npm install fails with ERESOLVE",
        "Fix npm install on the page of the shop: it fails with ERESOLVE",
    ):
        answer = told(store, task, budget=80)
        assert "`shell:npm install`" in answer.lessons[0].lines["en"]
        assert "`shell:pnpm install`, which took its place in 10 runs" in answer.prompt
        assert "vitest" not in answer.lessons[0].lines["en"]
    assert "vitest" in told(store, "Why is npx vitest not found?").prompt
    # Nothing is known that mends it.
    assert told(store, "Fix the menu of the shop").lessons == ()
    assert told(store, "Add the map library").prompt.count("vitest") == 0
