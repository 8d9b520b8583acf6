"""lessons list, show, dismiss, restore: as tables and as JSON, and one line for each mistake."""

import json

import pytest

LINE = "`book` failed in all 4 calls, in 4 tasks: no seat left on flight …"


@pytest.fixture
def taught(learnt):
    """Four tasks in which a tool fails."""
    learnt(
        *(
            {
                "task_id": f"t{number}",
                "success": False,
                "tool_graph": [
                    {"tool": "find", "ok": True},
                    {"tool": "book", "ok": False, "error": f"no seat left on flight HAT{number}"},
                ],
            }
            for number in range(4)
        )
    )


@pytest.fixture
def lessons(up, taught, trackrecord, project):
    """Runs a command of `lessons` in the test's project, as JSON."""

    def call(*arguments, status=0):
        ran = trackrecord("lessons", *arguments, "--project", project, "--json")
        assert ran.status == status, ran.err
        return ran.json if status == 0 else ran

    return call


def test_list_and_show(lessons, trackrecord, project):
    """A lesson with its counts; `show` names the runs behind it."""
    (found,) = lessons("list")
    assert (found["text"], found["kind"], found["state"]) == (LINE, "fails", "seen")
    assert (found["calls"], found["failing_calls"], found["tasks"]) == (4, 4, 4)
    shown = lessons("show", found["id"][:5])
    assert sorted(run["task_id"] for run in shown["outcomes"]) == ["t0", "t1", "t2", "t3"]
    assert {run["success"] for run in shown["outcomes"]} == {False}
    assert shown["lines"]["en"] == LINE
    table = trackrecord("lessons", "list", "--project", project)
    assert found["example"] == "no seat left on flight HAT3"
    assert f"{LINE} (no seat left on flight HAT3)" in table.out
    assert trackrecord("lessons", "show", found["id"], "--project", project).status == 0


def test_filters(lessons):
    """By tool, kind and state."""
    assert len(lessons("list", "--tool", "book", "--kind", "fails", "--state", "seen")) == 1
    assert lessons("list", "--tool", "find") == []
    assert lessons("list", "--kind", "then-works") == []


def test_dismiss_and_restore(lessons, trackrecord, project):
    """Dismissed for good, listed with --everything, and who did it and why."""
    (found,) = lessons("list")
    done = lessons("dismiss", found["id"][:6], "--reason", "mended", "--by", "mia")
    assert done == {
        "id": found["id"], "action": "dismiss", "changed": True, "by": "mia", "reason": "mended",
    }  # fmt: skip
    assert lessons("list") == []
    said = trackrecord("lessons", "list", "--project", project)
    assert said.out == f"no lessons to show in project {project!r}\n"
    (kept,) = lessons("list", "--everything")
    assert kept["dismissed"]
    history = lessons("show", found["id"])["history"]
    assert [(each["action"], each["by"], each["reason"]) for each in history] == [
        ("dismiss", "mia", "mended")
    ]
    assert not lessons("dismiss", found["id"])["changed"]
    assert lessons("restore", found["id"])["changed"]
    assert len(lessons("list")) == 1


@pytest.mark.parametrize("command", ["show", "dismiss", "restore"])
def test_unknown_ids(lessons, command):
    """Exit 1 and one line that says where to look."""
    ran = lessons(command, "nobody", status=1)
    assert len(ran.err.splitlines()) == 1
    assert "has no lesson 'nobody'; `trackrecord lessons list --everything` shows" in ran.err
    assert json.loads(ran.out)["error"] == "UnknownId"


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--kind", "all"), ("list", "--state", "proven"), ("list", "--tool", ""),
        ("list", "--limit", "0"), ("show",), ("dismiss",), ("dismiss", "x", "--reason", " "),
    ],
)  # fmt: skip
def test_bad_input(lessons, arguments):
    """Exit 2, nothing on standard output, one line."""
    ran = lessons(*arguments, status=2)
    assert (ran.out, len(ran.err.splitlines())) == ("", 1)


def test_an_unknown_project(up, trackrecord):
    """One line that names it."""
    ran = trackrecord("lessons", "list", "--project", "no-such-project")
    assert (ran.status, len(ran.err.splitlines())) == (1, 1)
    assert "'no-such-project' does not exist" in ran.err


def test_what_a_failing_command_worked_after(up, learnt, trackrecord, project):
    """The call before the success is told, but not for a check: an edit mends that."""
    calls = [
        {"tool": "shell:npm ci", "ok": False, "error": "engine"},
        {"tool": "shell:nvm use", "ok": True},
        {"tool": "shell:npm ci", "ok": True},
        {"tool": "shell:pytest", "ok": False, "error": "2 failed"},
        {"tool": "Edit", "ok": True},
        {"tool": "shell:pytest", "ok": True},
    ]
    learnt(*({"task_id": f"t{n}", "success": True, "tool_graph": calls} for n in range(3)))
    out = trackrecord("lessons", "--project", project).out
    assert "npm ci failed in 3 of 6 calls, in 3 runs; it worked later in 3 of them, after" in out
    assert "after shell:nvm use (3)" in out
    assert "pytest failed in 3 of 6 calls, in 3 runs; it worked later in 3 of them\n" in out
