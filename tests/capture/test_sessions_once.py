"""What no person said, what was copied, and that all that an agent keeps is read, or named."""

import json
import sqlite3
import sys
from contextlib import closing
from importlib import import_module

import pytest

from tests.capture.test_agent_declarations import _runs
from tests.capture.test_claude_code_transcripts import SAID, Told
from tests.capture.test_codex_rollouts import END, THREAD, answered, called, meta
from trackrecord_capture.agent_run import SignalKind
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.register import agent_of, known_sources
from trackrecord_capture.sources.unread_files import unread_remarks

zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
OPENCODE_2 = """
    CREATE TABLE session_v2 (id, parent_id, directory, revert, time_created, time_updated);
    CREATE TABLE session_message (id, session_id, type, seq, time_created, time_updated, data);
    INSERT INTO session_v2 VALUES ('s', NULL, '/src/shop', NULL, 1, 1);
"""
OPENCODE_PROJECT = """
    ALTER TABLE session_v2 ADD COLUMN project_id;
    CREATE TABLE project (id, worktree);
    INSERT INTO project VALUES ('p', '/src/shop');
    UPDATE session_v2 SET project_id = 'p';
    INSERT INTO session_message VALUES ('m', 's', 'user', 0, 9, 9, '{"text": "Fix it"}');
"""
GOOSE_COPY = """
    CREATE TABLE sessions (id, working_dir);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, role, content_json,
        created_timestamp);
    INSERT INTO sessions VALUES ('1', '/src/shop'), ('2', '/src/shop');
    INSERT INTO messages (session_id, role, content_json, created_timestamp)
        SELECT id, 'user', '[{"type": "text", "text": "Fix the tests"}]', 1795000000 FROM sessions;
"""


def _told(folder, *prompts):
    told = Told(folder)
    for number, prompt in enumerate(prompts):
        told.prompt(prompt, f"p{number}")
        told.answer(SAID)
    return told


def test_a_fork_of_claude_code(tmp_path):
    """It gives all that it copies the id of its first prompt; what goes on is a run of its own."""
    told = Told(tmp_path)
    first = told.prompt("Fix the tests", "p9", promptSource="typed")
    told.call("Bash", {"command": "ls"}, "a.py", {"stdout": "a.py"})
    told.answer(SAID)
    told.prompt("go on", "p9", promptSource="typed")
    told.answer(SAID)
    copied, own = told.read()
    assert (copied.prompt, copied.is_copy, own.prompt, own.is_copy) == (first, True, "p9", False)


@pytest.mark.parametrize(
    ("text", "is_prompt"),
    [
        ('<teammate-message teammate_id="b">Undo that</teammate-message>', False),
        ("trackrecord: `npm test` failed in 3 sessions; `pnpm test` then ran in 2.", False),
        ("<my-button>x</my-button> is not closed", True),
    ],
)
def test_what_no_person_said(tmp_path, text, is_prompt):
    """Neither a teammate's message nor our own words begin a run."""
    assert len(_told(tmp_path, "Fix the tests", text).read()) == 1 + is_prompt


def test_a_check_that_the_person_runs(tmp_path):
    """It is evidence, and what it printed tells how it went."""
    told = _told(tmp_path, "Fix the tests")
    told.prompt("<bash-input>pytest -q</bash-input>", "p2")
    told.prompt("<bash-stdout>2 failed in 1s</bash-stdout><bash-stderr></bash-stderr>", "p2")
    (run,) = told.read()
    assert (run.calls[0].actor, run.calls[0].result) == ("user", "2 failed in 1s")
    assert outcome_of(run)["success"] is False


def _rollout(*records):
    lines = ({"timestamp": "", "type": kind, "payload": given} for kind, given in records)
    return zstd.compress("".join(json.dumps(line) + "\n" for line in lines).encode())


def test_a_compressed_rollout_of_codex(tmp_path):
    """Read as any other; the sessions that Codex starts for itself are no runs."""
    asked = ("event_msg", {"type": "user_message", "message": "Fix the tests"})
    path = tmp_path / f"rollout-2026-11-22T03-59-03-{THREAD}.jsonl.zst"
    records = (asked, called(), answered("Process exited with code 1"), END)
    path.write_bytes(_rollout(meta(), *records))
    (run,) = _runs("codex", path)
    assert [call.exit_code for call in run.calls] == [1]
    path.write_bytes(_rollout(meta(source={"subagent": {"other": "guardian"}}), *records))
    assert _runs("codex", path) == []


def test_a_copy_has_what_it_is_known_by(tmp_path):
    """Forks of old rollouts of Codex, and copies of Goose's sessions, have ids of their own."""
    for place, second in enumerate(("01", "59")):
        path = tmp_path / f"rollout-2026-11-22T03-59-{second}-{place}.jsonl"
        asked = ("event_msg", {"type": "user_message", "message": "Fix the tests"})
        records = (meta(id=str(place)), asked, called(), answered("ok"), END)
        lines = ({"timestamp": f"2026-11-22T03:59:{second}Z", "type": kind, "payload": given}
                 for kind, given in records)  # fmt: skip
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as database:
        database.executescript(GOOSE_COPY)
    for agent in ("codex", "goose"):
        first, copy = _runs(agent, tmp_path)
        assert first.outcome_id != copy.outcome_id
        assert first.record == copy.record != ""


def test_a_worktree_of_opencode_that_is_gone(tmp_path):
    """Its database names the repository."""
    gone = tmp_path / ".local" / "share" / "opencode" / "worktree" / "1a2b3c" / "calm-river"
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as database:
        database.executescript(OPENCODE_2 + OPENCODE_PROJECT)
        database.execute("UPDATE session_v2 SET directory = ?", (str(gone),))
        database.commit()
    (run,) = _runs("opencode", tmp_path)
    assert outcome_of(run)["project"] == "shop"


def test_the_second_version_of_opencode(tmp_path):
    """Its calls with their exit codes; a call of what is no tool has failed."""
    bash = {"status": "completed", "input": {"command": "pytest"}, "structured": {"exit": 1},
            "content": [{"type": "text", "text": "1 failed"}]}  # fmt: skip
    wrong = {"status": "completed", "input": {"tool": "grep_all", "error": "no such tool"}}
    at = {"created": 1_795_000_000_000, "completed": 1_795_000_000_900}
    calls = [{"type": "tool", "id": n, "name": n, "state": s, "time": at}
             for n, s in (("bash", bash), ("invalid", wrong))]  # fmt: skip
    answer = {"content": calls, "finish": "stop", "time": at, "model": {"id": "m"}}
    rows = [("m1", "user", {"text": "Fix it", "time": at}), ("m2", "assistant", answer)]
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as database:
        database.executescript(OPENCODE_2)
        for name, kind, data in rows:
            database.execute("INSERT INTO session_message VALUES (?, 's', ?, 0, 9, 9, ?)",
                             (name, kind, json.dumps(data)))  # fmt: skip
        database.commit()
        (run,) = _runs("opencode", tmp_path)
        assert {each.tool: each.ok for each in run.calls} == {"bash": False, "grep_all": False}
        assert (run.instruction, run.folder, run.model) == ("Fix it", "/src/shop", "m")
        database.execute("CREATE TABLE session_v3 (id)")
    source = agent_of("opencode").source
    (log,) = source.logs([tmp_path])
    assert "session_v3" in next(iter(source.read(log))).reason


def test_an_answer_of_aider_that_was_complete(tmp_path):
    """Who leaves it afterwards interrupts nothing."""
    chat = "# aider chat started at 2026-11-01 10:00:00\n\n#### round the prices\n\nDone.\n\n{}\n"
    left, told = "> ^C again to exit", "> Tokens: 3.2k sent, 21 received."
    for lines, is_stopped in ((f"{told}\n{left}", False), (f"{left}\n{told}", True)):
        (tmp_path / ".aider.chat.history.md").write_text(chat.format(lines))
        (run,) = _runs("aider", tmp_path)
        assert [sign.kind for sign in run.signs] == [SignalKind.INTERRUPTED] * is_stopped


def test_sessions_in_a_form_that_is_not_known(tmp_path, monkeypatch):
    """They are named, and what lies beside them is not; a bare file of Copilot's is known."""
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    session = tmp_path / "session-state" / "11111111-2222-4333-8444-555566667777"
    (session / "files").mkdir(parents=True)
    for name in ("events.jsonl", "files/notes.md"):
        (session / name).touch()
    bare = session.with_name("21111111-2222-4333-8444-555566667777.jsonl")
    event = {"type": "user.message", "id": "e1", "timestamp": "2026-11-20T10:00:00Z"}
    bare.write_text(json.dumps(event | {"data": {"content": "Fix it"}}) + "\n")
    source = known_sources()["copilot"]
    assert list(unread_remarks([source])) == []
    assert [run.instruction for run in _runs("copilot", bare)] == ["Fix it"]
    bare.rename(bare.with_suffix(".cbor"))
    (remark,) = unread_remarks([source])
    assert remark.endswith(f"{bare.stem}.cbor")
