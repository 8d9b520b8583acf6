"""Undoing: whoever reads a wrong line gets rid of it in one step, wherever he reads it."""

import re

import pytest

import trackrecord
from tests.door.page.test_entries import get
from tests.learning.advice.test_moments import ERROR, cached, check, opened, shell
from trackrecord.learning.advice.moments.calls import TriedCall
from trackrecord.learning.advice.moments.hints import (
    SessionCalls,
    hint_after,
    hint_at_stop,
    standing_lines,
)
from trackrecord.learning.advice.moments.wording import named_text, never_text, usual_text
from trackrecord.resources.experience.lessons import dismiss_lesson, restore_lesson
from trackrecord.resources.prompt_documents.advice import count_advice, with_moments
from trackrecord.store.database.engine import reading
from trackrecord.wire.tried_calls import NO_FILES

OWN = "undone"
NOW = 1_772_884_800.0
NO_RULE = "make: no rule to make target 'deploy'"
QUOTA = "tool: quota exceeded"
REFUSED = "Connection refused"


def _shell(command, *, error="", state=None, kind="test"):
    """A call of a shell; of one that checks, with what its output shows."""
    checks = [{"kind": kind, "state": state, "line": command, "is_whole": True}] if state else []
    tool = f"shell:{command.partition(' -')[0]}"
    return {"tool": tool, "args": {"command": command}, "ok": not error, "error": error,
            "checks": checks}  # fmt: skip


def _calls(number):
    """The calls of one of nine sessions."""
    return [
        {"tool": "edit", "args": {"path": "cmd/gemini.go"}, "ok": True},
        {"tool": "glob", "args": {"pattern": "**/AGENTS.md"}, "ok": True, "result": NO_FILES},
        _shell("rtk bun test", error=ERROR, state="not started"),
        _shell("bun test", state="passed"),
        _shell("make deploy", error=NO_RULE),
        _shell(f"tool --at {number}", error=QUOTA),
        {"tool": "mcp__find", "ok": False, "error": QUOTA},
        {"tool": "book", "ok": False, "error": "no seat left"},
        {"tool": "book", "ok": True},
        _shell("ruff check", error=REFUSED, state="not started", kind="lint"),
        _shell("docker compose up"),
        _shell("ruff check", state="passed", kind="lint"),
    ]


def _text(hint):
    return hint.text if hint else ""


def _after(call):
    """Return the function that says what follows a call."""

    def told(facts, _):
        return _text(hint_after(cached(facts), call, call.error, SessionCalls(), now=NOW))

    return told


def _missing(path):
    return _after(opened(path, ok=False, error=f"{path}: no such file"))


# By the kind of statement: what an agent reads of it, and the words in it that are undone.
KINDS = {
    "TESTS at a start": (lambda facts, _: "".join(standing_lines(facts, NOW).values()), "bun test"),
    "TESTS at the failure": (_after(check("rtk bun test", "not started")), "rtk bun test"),
    "RUNS": (lambda facts, _: usual_text(facts.usual, 320), "bun test"),
    "NEVER": (lambda facts, _: never_text(facts.never), "**/AGENTS.md"),
    "NAMED": (lambda facts, _: named_text(["gemini.go"], cached(facts)), "gemini.go"),
    "a file elsewhere": (_missing("src/gemini.go"), "gemini.go"),
    "LIKE": (_missing("cmd/gemini.rs"), "cmd/gemini.go"),
    "a known failure": (_after(shell("make deploy", ok=False, error=NO_RULE)), "make deploy"),
    "of a shape": (_after(shell("tool --at 77", ok=False, error=QUOTA)), "tool --at 8"),
    "of a tool": (_after(TriedCall(tool="mcp__find", ok=False, error=QUOTA)), "mcp__find"),
    "what has to run first": (
        _after(check("ruff check", "not started", error=REFUSED)), "docker compose up"),
    "UNCHECKED": (lambda facts, _: _text(hint_at_stop(facts, "cmd/gemini.go")), "bun test"),
    "a lesson": (
        lambda _, known: "".join(x.lines["en"] for x in known.lessons if "book" in x.tools), None),
}  # fmt: skip


@pytest.fixture(scope="module")
def project(shown_store):
    """A project of nine sessions, which shows each kind of statement."""
    shown_store.teach(OWN, [
        {"outcome_id": f"u{n}", "task_id": f"u{n}", "success": None, "source": "codex",
         "captured_from": "transcript", "timestamp": NOW + n, "metadata": {"session": f"u{n}"},
         "tool_graph": _calls(n)}
        for n in range(9)
    ])  # fmt: skip
    return shown_store


def _told(store, kind):
    with reading(store.engine) as connection:
        counted, _ = count_advice(connection, OWN, store.settings.rules, now=NOW + 9)
        advice, moments = with_moments(connection, OWN, counted)
        (facts,) = moments.repositories.values()
        return KINDS[kind][0](facts, advice)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_line_is_undone_where_it_is_read(project, page_door, kind):
    """By its words, as in an agent's context, or by its id; the page has a button of it."""
    told = _told(project, kind)
    words = KINDS[kind][1] or told
    assert words in told
    path = "/lessons" if kind == "a lesson" else "/commands"
    _, page = get(page_door, path, project=OWN, state="all", q=words)
    buttons = re.findall(rf'action="{path}/dismiss.*?name="id" value="(\w+)"', page, re.DOTALL)
    with project.calls(OWN):
        facts = (*trackrecord.list_commands(everything=True), *trackrecord.list_lessons())
        ids = [x.id for x in facts if words in f"{getattr(x, 'line', '')} {x.text}"]
        shown = [each for each in ids if each in buttons]
        assert shown, page
        # What is known of a tool is told by two facts in the same words: one id undoes both.
        for given in ([words], shown[:1] if kind == "of a tool" else shown):
            try:
                for each in given:
                    assert dismiss_lesson(each, by="mia").changed
                assert words not in _told(project, kind)
            finally:
                for each in given:
                    restore_lesson(each, by="mia")
    assert _told(project, kind) == told
