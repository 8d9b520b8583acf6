"""commands: what never runs in a repository and what does, with the sessions behind it."""

import pytest

BROKEN = (
    "`rtk bun run test` never ran: it failed in each of 10 sessions since 7 March "
    "(unrecognized subcommand bun); `bun run test` then ran in 10"
)
RUNS = "tests run with `bun run test`: in 10 sessions (10 times, last 7 March)"
# 7 March 2026, at noon.
STARTED = 1_772_884_800.0


def _check(line, state):
    has_started = state != "not started"
    return {
        "tool": "shell:bun test",
        "args": {"command": f"{line} 2>&1"},
        "ok": has_started,
        **({} if has_started else {"error": "error: unrecognized subcommand 'bun'"}),
        "checks": [{"kind": "test", "state": state, "line": line, "is_whole": True}],
    }


@pytest.fixture
def commands(up, learnt, trackrecord, project):
    """Ten sessions have run; runs a command of `commands` in the test's project, as JSON."""
    learnt(
        *(
            {
                "task_id": f"t{number}",
                "success": True,
                "timestamp": STARTED + number,
                "captured_from": "transcript",
                "metadata": {"session": f"s{number}"},
                "tool_graph": [_check("rtk bun run test", "not started"),
                               _check("bun run test", "passed")],
            }
            for number in range(10)
        )
    )  # fmt: skip

    def call(*arguments, status=0):
        ran = trackrecord("commands", *arguments, "--project", project, "--json")
        assert ran.status == status, ran.err
        return ran.json if status == 0 else ran

    return call


def test_what_never_ran_is_shown_first(commands, trackrecord, project):
    """With its counts, since when, and what runs instead; `show` names the runs behind it."""
    broken, runs = commands("list")
    assert (broken["text"], runs["text"]) == (BROKEN, RUNS)
    assert (broken["state"], broken["sessions"], broken["calls"]) == ("never ran", 10, 10)
    assert (broken["instead"], broken["is_standing"]) == ("bun run test", True)
    assert broken["since"].startswith("2026-03-07T12:00:00")
    shown = commands("show", broken["id"][:6])
    assert [run["task_id"] for run in shown["outcomes"]] == [f"t{n}" for n in range(9, 1, -1)]
    assert commands("list", "--state", "runs", "--kind", "test") == [runs]
    alone = trackrecord("commands", "--project", project)
    assert alone.out.index(BROKEN) < alone.out.index(RUNS)
    page = trackrecord("lessons", "--project", project)
    assert page.out.index(BROKEN) < page.out.index("What fails most")


def test_what_is_dismissed_is_told_to_nobody(commands, trackrecord, project):
    """Until it is restored; the history keeps who decided, and why."""
    broken, _ = commands("list")
    decided = commands("dismiss", broken["id"][:6], "--reason", "known", "--by", "me")
    assert (decided["id"], decided["changed"]) == (broken["id"], True)
    assert [each["text"] for each in commands("list")] == [RUNS]
    pages = (("commands",), ("lessons",))
    for page in pages:
        out = trackrecord(*page, "--project", project).out
        assert BROKEN not in out
        assert RUNS in out
    assert [each["dismissed"] for each in commands("list", "--everything")] == [True, False]
    (change,) = commands("show", broken["id"])["history"]
    assert (change["action"], change["by"], change["reason"]) == ("dismiss", "me", "known")
    assert commands("restore", broken["id"])["changed"] is True
    assert len(commands("list")) == 2
    for page in pages:
        assert BROKEN in trackrecord(*page, "--project", project).out
    assert "has no command" in commands("show", "zzzz", status=1).err
