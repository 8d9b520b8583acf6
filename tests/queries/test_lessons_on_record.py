"""Lessons: found in a store's runs, as of any moment; dismissed and restored by hand."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.capture.made_runs import edit, run_of, shell
from tests.store.teaching import learn_reports
from trackrecord.errors import UnknownId
from trackrecord.resources.access.project_store import ProjectStore, Transaction, calls_use
from trackrecord.resources.experience.lessons import (
    details_of,
    dismiss_lesson,
    lessons_of,
    restore_lesson,
)
from trackrecord.resources.prompt_documents.advice import count_advice
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.advice.runs import read_runs
from trackrecord.store.database.engine import reading
from trackrecord_capture.agent_run import RunCall
from trackrecord_capture.outcome import outcome_of

# No Redis is there: rankings are a worker's matter then.
SETTINGS = DaemonSettings(home=Path("/nowhere"))
DAY = 86_400.0
# Lately: what was not met for half a year is no longer told.
NOW = float(int(time.time() - 30 * DAY))


def teach(store, bodies, *, first=NOW):
    """Learn outcomes, one received each second."""
    reports = [{"outcome_id": f"o{number}", **fields} for number, fields in enumerate(bodies)]
    learn_reports(
        store, reports, SETTINGS.rules, now=first, received=lambda number, _: first + number
    )


def failing(number, *, error="no seat left", **fields):
    """One run in which a tool fails."""
    calls = [{"tool": "find", "ok": True}, {"tool": "book", "ok": False, "error": error}]
    return {"task_id": f"t{number}", "success": False, "tool_graph": calls, **fields}


def known_lessons(store, at=None, **asked):
    with reading(store) as connection:
        return lessons_of(Transaction(connection, SETTINGS, "default", at), **asked)


def details_from(store, lesson_id):
    with reading(store) as connection:
        return details_of(Transaction(connection, SETTINGS, "default"), lesson_id)


def calls(store, project="default"):
    return calls_use(ProjectStore(store, SETTINGS, project))


def test_a_lesson_names_the_runs_behind_it(store):
    """The newest first, with their tasks and how they ended."""
    teach(store, [failing(number, success=number == 3) for number in range(4)])
    (known,) = known_lessons(store)
    details = details_from(store, known.id[:6])
    assert [run.outcome_id for run in details.outcomes] == ["o3", "o2", "o1", "o0"]
    assert [(run.task_id, run.success) for run in details.outcomes][:2] == [
        ("t3", True),
        ("t2", False),
    ]
    ended = datetime.fromtimestamp(NOW + 3, UTC)
    assert details.to_document()["outcomes"][0]["ended_at"] == f"{ended:%Y-%m-%dT%H:%M:%S}.000Z"


def test_a_dismissed_lesson_is_gone_until_it_is_restored(store):
    """Deciding twice changes nothing."""
    teach(store, [failing(number) for number in range(4)])
    lesson_id = known_lessons(store)[0].id

    def decide(action, given=lesson_id[:8]):
        with calls(store):
            decided = action(given, by="mia", reason="known")
        return decided.id, decided.changed

    assert decide(dismiss_lesson) == (lesson_id, True)
    assert decide(dismiss_lesson) == (lesson_id, False)
    assert known_lessons(store) == []
    (known,) = known_lessons(store, everything=True)
    assert (known.dismissal.by, known.dismissal.reason) == ("mia", "known")
    # More of the same does not bring it back.
    teach(store, [failing(number, outcome_id=f"p{number}") for number in range(4, 9)])
    assert known_lessons(store) == []
    # What it is about stands first in it, and will do for its id.
    assert decide(restore_lesson, known.text.split("`")[1]) == (lesson_id, True)
    assert decide(restore_lesson) == (lesson_id, False)
    assert known_lessons(store)[0].tasks == 9
    details = details_from(store, lesson_id)
    assert [each.action for each in details.history] == ["dismiss", "restore"]


def test_another_project_has_its_own_lessons(store):
    """Neither its runs nor the decisions about its lessons count."""
    teach(store, [failing(number) for number in range(4)])
    teach(store, [failing(number, project="other") for number in range(4)])
    lesson_id = known_lessons(store)[0].id
    with calls(store, "other"):
        with pytest.raises(UnknownId):
            dismiss_lesson("none", by="x")
        dismiss_lesson(lesson_id, by="x")
    assert known_lessons(store)[0].runs == 4


def test_a_failing_reproduction_is_not_a_failure_of_a_tool(store):
    """A person wanted to see the bug; the same error from another script is one."""

    def ran(number, command):
        call = {"tool": "bash", "args": {"command": command}, "ok": False, "error": "ValueError: x"}
        return {"outcome_id": f"{command}{number}", "task_id": f"t{number}", "tool_graph": [call]}

    wanted = [ran(n, "cd /src && python reproduce.py") | {"success": True} for n in range(5)]
    teach(store, wanted)
    assert known_lessons(store) == []
    teach(store, [ran(n, "python setup.py") | {"success": True} for n in range(5)])
    assert known_lessons(store)[0].failing_calls == 5


def test_the_example_is_a_line_of_the_error_redacted_and_inert(store):
    """For people of the project: what differs stays, secrets and homes do not."""
    said = (
        "Exit code 1\nloading\n"
        "fatal: cannot open '/home/mia/shop/{}.yml' with password=hunter2hunter2 <b>now</b>\n"
        "hint: look there\n"
    )
    teach(store, [failing(number, error=said.format(f"cart{number}")) for number in range(4)])
    lesson = known_lessons(store)[0]
    assert lesson.example == (
        "fatal: cannot open '~/shop/cart3.yml' with password=‹secret> ‹b>now‹/b>"
    )
    for told in ("mia", "hunter2", "cart3"):
        assert told not in lesson.text


def _shell(command, *, fails=False, said=""):
    return shell(command, int(fails), said, error=said)


_LOOK = RunCall(tool="Read", ok=True)
_EDIT = edit()
_TESTS = _shell("pytest -q", said="3 passed in 0.1s")


def _fleet():
    """Yield what is captured of eight tasks, four runs of each at the same time.

    All pass the tests; half of them run mypy as well, some of these also before the last edit, and
    mypy fails in half of the tasks.
    """
    for number in range(32):
        calls = [_LOOK, _EDIT, _TESTS]
        if number % 4 < 2:
            fails = number % 8 < 4
            types = _shell("mypy .", fails=fails, said="Found 1 error in 1 file" if fails else "")
            calls = [_LOOK, _EDIT, *[types] * (number % 3 == 0), _EDIT, _TESTS, types]
        began = NOW - 1000 + 10 * (number // 4)
        run = run_of(
            *calls, session=f"s{number}", started_at=began, ended_at=began + 5,
            instruction=f"Mend the sum of the cart, number {number // 4}",
        )  # fmt: skip
        yield outcome_of(run) | {"project": "default", "outcome_id": f"o{number}"}


def _learnt(store):
    """Return all that prompts may say and the lessons, as text, and the orders of tools."""
    now = NOW + 100
    with reading(store) as connection:
        advice, _ = count_advice(connection, "default", SETTINGS.rules, now=now)
        shown = lessons_of(Transaction(connection, SETTINGS, "default"), everything=True)
        orders = {run.order for run in read_runs(connection, 1, limit=99)}
    # How often checks run is known, to tell of those that do not start.
    assert advice.checks.keys() <= {"shell:mypy", "shell:pytest"}
    advice = replace(advice, checks={})
    return repr((advice, [each.to_document() for each in shown])), orders


def test_a_check_that_the_verdict_rests_on_does_not_explain_it(store):
    """More checks are more ways to fail: nothing is learnt against the type checker by that."""
    fleet = list(_fleet())
    successes = {number for number, fields in enumerate(fleet) if fields["success"]}
    assert successes == {number for number in range(32) if number % 8 not in (0, 1)}
    teach(store, fleet)
    said, orders = _learnt(store)
    assert orders == {("Read", "Edit")}
    assert "Read" in said
    assert "mypy" not in said
    assert "pytest" not in said


def test_how_a_check_was_called_is_learnt_from_its_command_line(store):
    """By launchers that are known: nothing else that stands in front of it is told."""
    missing = {"fails": True, "said": "error: unrecognized subcommand 'bun'"}
    calls = [
        _shell("cd web && CI=1 rtk bun run test", **missing),
        _shell("sudo -u mallory bun run test", said="3 pass\n 0 fail"),
        _shell("bun run test 2>&1 | tail", said="3 pass\n 0 fail"),
    ]
    runs = [
        run_of(
            _EDIT, *calls, session=f"s{number}", started_at=NOW, ended_at=NOW + 5,
            instruction=f"Mend {number}",
        )
        for number in range(8)
    ]  # fmt: skip
    teach(store, [outcome_of(each) | {"project": "default"} for each in runs])
    (told,) = (each.text for each in known_lessons(store))
    assert told == (
        "`shell:rtk bun run test` failed in all 8 calls, in 8 tasks: unrecognized subcommand …; "
        "`shell:bun run test` worked in all 16 calls"
    )
    with reading(store) as connection:
        (entry,) = count_advice(connection, "default", SETTINGS.rules, now=NOW + 9)[0].lessons
    assert not entry.is_occasional
    assert not entry.needs_naming
    assert entry.usual == 1.0
