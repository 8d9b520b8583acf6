"""import claude-code|codex|opencode|all: what a person's own agents did, on the first minute."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import until

THREAD = "01a20168-5106-7f52-b27b-c498fee45552"


def _rollout(number, folder):
    """A turn in which a script and a test fail, a file is changed, and both go well."""
    turn, thread = f"turn-{number}", f"{THREAD[:-2]}{number:02}"

    def ran(call, command, exit_code):
        arguments = json.dumps({"cmd": command})
        item = {"type": "CommandExecution", "id": call, "command": ["bash", "-lc", command],
                "cwd": folder, "exit_code": exit_code}  # fmt: skip
        return [
            ("response_item", {"type": "function_call", "name": "exec_command", "call_id": call,
                               "arguments": arguments}),
            ("event_msg", {"type": "item_completed", "item": item}),
        ]  # fmt: skip

    patch = "*** Begin Patch\n*** Update File: cart.py\n+x\n*** End Patch"
    calls = [
        *ran("c0", "python seed.py", 1),
        *ran("c1", "pytest -q", 1),
        ("response_item", {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2",
                           "input": patch}),
        ("event_msg", {"type": "patch_apply_end", "call_id": "c2", "success": True}),
        *ran("c3", "pytest -q", 0),
        *ran("c4", "python seed.py", 0),
    ]  # fmt: skip
    if number % 3 == 0:
        calls = calls[:6]
    prompt = f"Mend the cart so that it survives voucher number {number}"
    return thread, [
        ("session_meta", {"id": thread, "cwd": folder, "source": "cli"}),
        ("event_msg", {"type": "task_started", "turn_id": turn}),
        ("event_msg", {"type": "user_message", "message": prompt}),
        *calls,
        ("event_msg", {"type": "task_complete", "turn_id": turn}),
    ]


@pytest.fixture
def agents(tmp_path, monkeypatch):
    """A person's home with sessions of Codex and of opencode, in a project of this test's own."""
    person = tmp_path / "person"
    project = f"shop-{tmp_path.parent.name}-{tmp_path.name}"
    folder = person / "src" / project
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("CODEX_HOME", str(person / ".codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(person / ".claude"))
    monkeypatch.setenv("XDG_DATA_HOME", str(person / "data"))
    sessions = person / ".codex" / "sessions" / "2026" / "11" / "20"
    sessions.mkdir(parents=True)
    for number in range(8):
        _write_session(sessions, number, folder)
    _opencode(person / "data" / "opencode" / "opencode.db", str(folder))
    return Agents(project, sessions)


def _write_session(sessions, number, folder):
    thread, records = _rollout(number, str(folder))
    with (sessions / f"rollout-2026-11-20T10-00-{number:02}-{thread}.jsonl").open("w") as file:
        for kind, payload in records:
            at = f"2026-11-20T10:00:{number:02}.000Z"
            file.write(json.dumps({"timestamp": at, "type": kind, "payload": payload}) + "\n")


class Agents:
    def __init__(self, project, sessions):
        self.project = project
        self.sessions = sessions


def _opencode(path, folder):
    path.parent.mkdir(parents=True)
    at = 1_763_600_000_000
    state = {"status": "completed", "input": {"command": "npm test"}, "output": "2 failing",
             "metadata": {"exit": 1}, "time": {"start": at, "end": at + 100}}  # fmt: skip
    call = {"type": "tool", "tool": "bash", "state": state}
    rows = {
        "session": [("s1", None, folder, None, at, at)],
        "message": [
            ("m1", "s1", at, at, json.dumps({"role": "user", "time": {"created": at}})),
            ("m2", "s1", at, at, json.dumps({"role": "assistant", "finish": "stop",
                                             "time": {"created": at, "completed": at + 9}})),
        ],
        "part": [
            ("p1", "m1", "s1", at, at, json.dumps({"type": "text", "text": "Fix the tests"})),
            ("p2", "m2", "s1", at, at, json.dumps(call)),
        ],
    }  # fmt: skip
    columns = {
        "session": "id, parent_id, directory, revert, time_created, time_updated",
        "message": "id, session_id, time_created, time_updated, data",
        "part": "id, message_id, session_id, time_created, time_updated, data",
    }
    connection = sqlite3.connect(path)
    for table, names in columns.items():
        connection.execute(f"CREATE TABLE {table} ({names})")
        marks = ", ".join("?" * len(names.split(",")))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows[table])  # noqa: S608 - ours
    connection.commit()
    connection.close()


def _processes_of(home: Path) -> list[int]:
    """Return the processes that have a home in their environment or their command."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            about = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except OSError:
            continue
        if str(home).encode() in about and int(process.name) != os.getpid():
            found.append(int(process.name))
    return found


@contextmanager
def nothing_running(home):
    """Asserts that no process of a home is left, before and after."""
    assert _processes_of(home) == []
    yield
    assert _processes_of(home) == []


def test_the_first_minute(nothing_up, agents, trackrecord):
    """Without a server, an import finds everything, learns from it, and leaves nothing running.

    The page that it ends with is the one of `lessons`, and the commands that it names answer.
    """
    ran = trackrecord("import", "all", "--json")
    assert (ran.status, ran.err) == (0, "")
    found = ran.json
    assert found["runs"] == 9
    with nothing_running(nothing_up):
        page = trackrecord("lessons").out
        again = trackrecord("import", "all")
    assert again.out == ("nothing new in 9 logs; `trackrecord lessons` shows what was learnt\n")
    assert "9 runs in 1 project (codex 8, opencode 1)" in page
    # That tests fail at first is the work itself.
    assert "pytest` failed" not in page
    assert "5 of 6 runs with a verdict succeeded" in page
    _check_facts(trackrecord, agents.project, found, page)


def _check_facts(trackrecord, project, found, page):
    """Each id on the page answers, and the counts are those of the runs."""
    (work,) = found["projects"]
    for kind, count in work["ends"].items():
        runs = trackrecord("runs", "list", "--project", project, "--ground", kind, "--json")
        assert len(runs.json) == count
    ids = re.findall(r"^  ([0-9a-f]{8})  `", page, re.MULTILINE)
    for each in ids:
        assert trackrecord("commands", "show", each, "--project", project).status == 0
        line = trackrecord("commands", "show", each, "--project", project, "--json").json["line"]
        gone = trackrecord("commands", "dismiss", line, "--project", project)
        assert gone.status == 0
        assert each not in trackrecord("lessons").out


def test_with_a_server(up, agents, trackrecord):
    """Where a server runs, it is used, and goes on running; the answer stands alone."""
    # As a process: in this one, another test may have sent logs elsewhere.
    command = [
        sys.executable,
        "-m",
        "trackrecord_cli",
        "import",
        "codex",
        agents.sessions,
        "--json",
    ]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=200)
    answer = json.loads(ran.stdout)
    assert (answer["runs"], answer["known"]) == (8, 0)
    again = trackrecord("import", "codex", agents.sessions, "--again", "--json")
    assert (again.json["runs"], again.json["known"]) == (8, 8)
    assert trackrecord("status").status == 0


def test_a_project_of_ones_own(up, agents, trackrecord, project):
    """With --project everything belongs to that project."""
    trackrecord("import", "codex", agents.sessions, "--project", project)
    found = trackrecord("runs", "list", "--project", project, "--json").json
    assert {run["project"] for run in found} == {project}
    assert len(found) == 8


def _made_by(agents, number, printed):
    """Let a session have made a commit, by what git printed."""
    command = ["bash", "-lc", "git commit --message 'Mend the cart'"]
    item = {"type": "CommandExecution", "id": "c9", "command": command, "exit_code": 0,
            "aggregated_output": printed}  # fmt: skip
    told = {"timestamp": f"2026-11-20T10:00:{number:02}.000Z", "type": "event_msg",
            "payload": {"type": "item_completed", "item": item}}  # fmt: skip
    (path,) = agents.sessions.glob(f"rollout-*-{number:02}-{THREAD[:8]}*")
    *lines, last = path.read_text().splitlines(keepends=True)
    path.write_text("".join((*lines, json.dumps(told) + "\n", last)))


def test_what_a_person_threw_away(up, agents, trackrecord):
    """The repository is read although no log has changed, and says what it has to say once."""
    folder = Path(os.environ["HOME"]) / "src" / agents.project

    def git(*arguments):
        moment = "2026-11-20T10:00:04Z"
        who = {f"GIT_{name}_{what}": "ada@example.com" for name in ("AUTHOR", "COMMITTER")
               for what in ("NAME", "EMAIL")}  # fmt: skip
        when = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
        variables = os.environ | who | when
        return subprocess.check_output(["git", *arguments], cwd=folder, env=variables, text=True)  # noqa: S607 - as for a person

    git("init", "--quiet", "--initial-branch", "main")
    (folder / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    git("add", "--all")
    _made_by(agents, 4, git("commit", "--message", "Mend the cart"))
    trackrecord("import", "all")

    def failed():
        found = trackrecord("runs", "list", "--project", agents.project, "--json").json
        return {run["instruction"]: run["grounds"][0]["says"] for run in found
                if run["success"] is False}  # fmt: skip

    before = failed()
    git("revert", "--no-edit", "HEAD")
    ran = trackrecord("import", "all")
    assert ran.out.startswith("nothing new in 9 logs; 1 run amended by what became of commits\n")
    ((prompt, says),) = failed().items() - before.items()
    assert prompt == "Mend the cart so that it survives voucher number 4"
    assert "was reverted by" in says
    assert trackrecord("import", "all").out.startswith("nothing new in 9 logs;")


def test_runs_whose_project_has_changed_move(up, agents, trackrecord, monkeypatch):
    """They are in one project alone, with what people said of them."""
    folder = str(Path(os.environ["HOME"]) / "src" / agents.project)
    other = f"{agents.project}-other"
    mapped = json.dumps([{"folder": folder, "project": other}])
    with monkeypatch.context() as patched:
        patched.setenv("TRACKRECORD_CAPTURE__PROJECTS", mapped)
        trackrecord("import", "codex")
    runs = trackrecord("runs", "list", "--project", other, "--json").json
    run = next(each for each in runs if each["success"])
    trackrecord("amend", "--project", other, run["outcome_id"], "--failure", "--reason", "no")
    assert trackrecord("import", "codex", "--again").status == 0
    now = trackrecord("runs", "list", "--project", agents.project, "--json").json
    assert {each["outcome_id"] for each in now} == {each["outcome_id"] for each in runs}
    moved = next(each for each in now if each["outcome_id"] == run["outcome_id"])
    assert moved["success"] is False
    assert other not in trackrecord("projects").out
    assert trackrecord("import", "codex", "--again", "--json").json["known"] == 8


def test_a_foreign_folder_of_the_same_name(up, agents, trackrecord, tmp_path):
    """Its runs are not the project's; one line says so once, and `doctor` shows who feeds what."""
    trackrecord("import", "codex")
    foreign = tmp_path / "downloads" / agents.project
    foreign.mkdir(parents=True)
    _write_session(agents.sessions, 8, foreign)
    ran = trackrecord("import", "codex")
    origins = trackrecord("doctor", "--json").json["projects"]
    origins = [each for each in origins if each["name"] == agents.project]
    own, other = (each["project"] for each in origins)
    assert (own, other.startswith(f"{own}-")) == (agents.project, True)
    assert origins[1]["folders"] == [str(foreign)]
    (line,) = ran.err.splitlines()
    assert f"the runs in {foreign} belong to {other}" in line
    for project, count in ((own, 8), (other, 1)):
        assert len(trackrecord("runs", "list", "--project", project, "--json").json) == count
    assert trackrecord("import", "codex", "--again").err == ""
    assert line.removeprefix("trackrecord: ") in trackrecord("doctor").out


def test_nothing_to_import(nothing_up, agents, trackrecord, tmp_path):
    """Who has no sessions is told where they were looked for; a wrong path is named."""
    (tmp_path / "empty").mkdir()
    ran = trackrecord("import", "codex", tmp_path / "empty")
    assert ran.status == 1
    assert str(tmp_path / "empty") in ran.err
    wrong = trackrecord("import", "codex", tmp_path / "nowhere")
    assert (wrong.status, "nowhere does not exist" in wrong.err) == (2, True)


def test_a_configured_server_that_is_away(nothing_up, agents, trackrecord, monkeypatch):
    """A Redis that is configured is never replaced by another one."""
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", "redis://127.0.0.1:1/0")
    assert trackrecord("import", "codex").status == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_nothing_running(nothing_up, agents, number):
    """Ctrl-C and SIGTERM stop what the import started, whenever they come."""
    process = subprocess.Popen(
        [sys.executable, "-m", "trackrecord_cli", "import", "all"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    lock = nothing_up / "up.lock"
    until(lambda: lock.exists() and "worker" in lock.read_text())
    process.send_signal(number)
    assert process.wait(120) == 130
    with nothing_running(nothing_up):
        pass


def test_names_that_would_steer_a_terminal(capsys):
    """A tool is named by whoever made it; the page shows no escape sequence."""
    from tests.learning.advice.test_moments import sessions
    from trackrecord.learning.advice.moments.calls import TriedCall
    from trackrecord.learning.advice.moments.commands import commands_of
    from trackrecord.resources.experience.commands import CommandAnswer
    from trackrecord.resources.reports.agents_work import ProjectWork
    from trackrecord_cli.history.page import print_page

    steering = "rm \x1b]0;title\x07"
    runs = sessions(*[[TriedCall(tool=steering, ok=False, error=steering)]] * 3)
    (tool,) = commands_of(runs, now=0.0)
    work = ProjectWork(
        project=steering, runs=3, sources={steering: 3}, successes=0, failures=0, undecided=3,
        ends={}, commands=(CommandAnswer.of(tool, dismissed=False),),
    )  # fmt: skip
    print_page([work], is_installed=True)
    page = capsys.readouterr().out
    assert page.replace("\n", "").isprintable()
    assert "failed in 3 sessions" in page
