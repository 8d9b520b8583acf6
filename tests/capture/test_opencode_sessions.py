"""The sessions of opencode, from its database."""

import json
import sqlite3

import pytest

from tests.capture.conformance import opencode_teller
from trackrecord_capture.agent_run import SignalKind
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.opencode import AGENT
from trackrecord_capture.sources.opencode.database import open_sessions
from trackrecord_capture.sources.source import ReadRun, Unreadable

SESSION = "ses_1"
START = 1_795_319_900_000

_SECRETS = """
    CREATE TABLE credential (id text PRIMARY KEY, value text NOT NULL);
    CREATE TABLE account (id text PRIMARY KEY, access_token text NOT NULL);
    CREATE VIEW message_of_keys AS SELECT value FROM credential;
    INSERT INTO credential VALUES ('1', 'sk-secret');
"""
TABLES = opencode_teller.TABLES + _SECRETS


class Store:
    """A database in WAL mode, written as opencode writes it."""

    def __init__(self, path):
        self.path = path
        self._now = START
        self.connection = sqlite3.connect(path)
        self.connection.execute("PRAGMA journal_mode=wal")
        self.connection.executescript(TABLES)

    def _tick(self):
        self._now += 1000
        return self._now

    def session(self, session_id=SESSION, **fields):
        row = {"id": session_id, "directory": "/src/shop", "time_created": START} | fields
        self._insert("session", row | {"time_updated": START})

    def message(self, message_id, *parts, role="assistant", session=SESSION, **fields):
        at = self._tick()
        data = {"role": role, "time": {"created": at}} | fields
        row = {"id": message_id, "session_id": session, "time_created": at, "time_updated": at}
        self._insert("message", row | {"data": json.dumps(data)})
        for number, part in enumerate(parts):
            row = {"id": f"{message_id}/{number}", "message_id": message_id, "session_id": session}
            row |= {"time_created": at, "time_updated": at, "data": json.dumps(part)}
            self._insert("part", row)

    def prompt(self, message_id, text="Fix the tests", **fields):
        self.message(message_id, {"type": "text", "text": text}, role="user", **fields)

    def answer(self, message_id, *parts, finish="stop", **fields):
        at = self._now + 1500
        done = {"time": {"created": at - 400, "completed": at}, "finish": finish}
        self.message(message_id, *parts, **(done | {"modelID": "m", "cost": 0.25} | fields))

    def revert(self, message_id):
        revert = json.dumps({"messageID": message_id})
        values = (revert, self._tick(), SESSION)
        self.connection.execute("UPDATE session SET revert=?, time_updated=? WHERE id=?", values)
        self.connection.commit()

    def _insert(self, table, row):
        marks = ", ".join("?" * len(row))
        names = ", ".join(row)
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - ours
        self.connection.execute(statement, tuple(row.values()))
        self.connection.commit()


def tool(name, arguments, status="completed", **state):
    time = {"start": START + 2000, "end": START + 2250}
    inner = {"status": status, "input": arguments, "time": time} | state
    return {"type": "tool", "tool": name, "callID": f"call_{name}", "state": inner}


def ran(command, code, output=""):
    return tool("bash", {"command": command}, output=output, metadata={"exit": code})


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "opencode.db")
    yield store
    store.connection.close()


def read(path, resume_at=0):
    (log,) = AGENT.source.logs([path])
    return list(AGENT.source.read(log, resume_at))


def runs(path):
    found = read(path)
    assert all(isinstance(each, ReadRun) for each in found), found
    return [each.run for each in found]


def test_a_prompt_with_its_answers(store):
    """A prompt is a run: its calls with exit codes and edits, its tokens and its costs."""
    store.session()
    store.prompt("msg_1")
    tokens = {"input": 100, "output": 20, "reasoning": 5, "cache": {"read": 10, "write": 1}}
    store.answer("msg_2", ran("pytest -q", 1, "2 failed\n"), finish="tool-calls", tokens=tokens)
    edit = {"filePath": "/src/shop/cart.py", "oldString": "secret", "newString": "other"}
    store.answer("msg_3", tool("edit", edit, output="ok"), ran("pytest -q", 0), tokens=tokens)
    (run,) = runs(store.path)
    assert run.outcome_id == f"opencode:{SESSION}:msg_1"
    assert (run.instruction, run.folder, run.model) == ("Fix the tests", "/src/shop", "m")
    assert (run.tokens_in, run.tokens_out, run.usd) == (222, 50, 0.5)
    assert run.is_over
    failed, edited, passed = run.calls
    assert (failed.command, failed.ok, failed.exit_code) == ("pytest -q", False, 1)
    assert (failed.error, failed.duration_ms) == ("2 failed\n", 250.0)
    assert (edited.edits, edited.ok) == (("/src/shop/cart.py",), True)
    assert edited.arguments == {"filePath": "/src/shop/cart.py"}
    assert passed.ok is True


def test_what_no_person_wrote(store):
    """After a compaction opencode prompts itself; the work is still that of the person's prompt."""
    store.session()
    store.prompt("msg_1", '"Fix the tests"')
    store.answer("msg_2", ran("ls", 0))
    store.message("msg_3", {"type": "compaction", "auto": True}, role="user")
    going_on = {"type": "text", "text": "Continue if you have next steps", "synthetic": True}
    store.message("msg_4", going_on, role="user")
    store.answer("msg_5", ran("pytest", 0))
    (run,) = runs(store.path)
    assert run.instruction == "Fix the tests"
    assert [call.command for call in run.calls] == ["ls", "pytest"]
    assert run.signs == ()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MessageAbortedError", SignalKind.INTERRUPTED),
        ("APIError", SignalKind.API_FAILED),
        ("ProviderAuthError", SignalKind.API_FAILED),
        ("ContextOverflowError", SignalKind.CRASHED),
    ],
)
def test_errors(store, name, kind):
    """An error of an answer ends the run, each kind in its own way."""
    store.session()
    store.prompt("msg_1")
    store.answer("msg_2", error={"name": name, "data": {"message": "what it says"}})
    (run,) = runs(store.path)
    assert [(sign.kind, sign.says) for sign in run.signs] == [(kind, "what it says")]
    assert run.is_over


def test_a_call_that_the_person_refused(store):
    """A call that was not allowed, or was stopped, says nothing of how it would have ended."""
    refused = "The user rejected permission to use this specific tool call."
    store.session()
    store.prompt("msg_1")
    store.answer(
        "msg_2",
        tool("bash", {"command": "rm -r x"}, "error", error=refused),
        tool("bash", {"command": "sleep 9"}, "error", error="Tool execution aborted"),
        tool("read", {"filePath": "/x"}, "error", error="File not found: /x"),
        ran("sleep 8", None, "1\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"),
    )
    (run,) = runs(store.path)
    assert [call.ok for call in run.calls] == [None, None, False, None]
    assert [(sign.kind, sign.call) for sign in run.signs] == [(SignalKind.REJECTED, 0)]


def test_an_output_that_the_model_read_a_summary_of(store):
    """The run is told of what was printed: the error is that of the tests."""
    summary = "[output kept as artifact 3f0c: log, 20000 bytes]\n1 error"
    store.session()
    store.prompt("msg_1")
    store.answer(
        "msg_2",
        tool("bash", {"command": "pytest"}, output=summary,
             metadata={"exit": 1, "output": "E   AssertionError: assert 4 == 3"}),
        ran("make", 2, summary),
        tool("bash", {"command": "ls"}, output="as given", metadata={"exit": 0, "output": "other"}),
    )  # fmt: skip
    (run,) = runs(store.path)
    printed = [call.result for call in run.calls]
    assert printed == ["E   AssertionError: assert 4 == 3", summary, "as given"]
    assert run.calls[0].error == "E   AssertionError: assert 4 == 3"


def test_a_prompt_without_its_words_yet(store):
    """It is no sign of life of the run before: that would outdate what is known once it is told."""
    store.session()
    store.prompt("msg_1")
    store.message("msg_2", tool("bash", {"command": "sleep 60"}, "running"))
    (alone,) = runs(store.path)
    store.message("msg_3", role="user")
    assert runs(store.path) == [alone]


def test_an_answer_that_never_came(store):
    """Nobody is to blame for that."""
    store.session()
    store.prompt("msg_1")
    store.message(
        "msg_2", ran("pytest -q", 1, "1 failed"), finish="tool-calls", time={"completed": 1}
    )
    store.message("msg_3")
    (run,) = runs(store.path)
    assert not run.is_over
    assert outcome_of(run)["success"] is None


def test_a_revert(store):
    """What the person takes back concerns that prompt and all later ones, also read later on."""
    store.session()
    for number in (1, 3, 5):
        store.prompt(f"msg_{number}", f"prompt {number}")
        store.answer(f"msg_{number + 1}")
    before = read(store.path)
    store.revert("msg_3")
    after = read(store.path, before[-1].resume_at)
    undone = {
        each.run.prompt: any(sign.kind is SignalKind.UNDONE for sign in each.run.signs)
        for each in after
    }
    assert undone == {"msg_3": True, "msg_5": True}


def test_reading_on(store):
    """Only what changed is read again: the newest run, and one that got a next prompt."""
    store.session()
    store.prompt("msg_1")
    store.answer("msg_2")
    store.prompt("msg_3", "more")
    store.answer("msg_4")
    first, second = read(store.path)
    assert [each.run.prompt for each in read(store.path, second.resume_at)] == ["msg_3"]
    store.prompt("msg_5", "that's wrong")
    again = read(store.path, second.resume_at)
    assert [each.run.prompt for each in again] == ["msg_3", "msg_5"]
    assert again[0].run.signs[-1].says == "that's wrong"
    assert first.resume_at <= second.resume_at


def test_credentials_are_never_read(store):
    """The connection itself refuses every table but the three, and every change."""
    store.session()
    with open_sessions(store.path) as connection:
        for statement in (
            "SELECT value FROM credential",
            "SELECT count(*) FROM account",
            "SELECT * FROM message_of_keys",
            "SELECT id FROM message WHERE id IN (SELECT value FROM credential)",
            "ATTACH DATABASE ':memory:' AS other",
            "PRAGMA writable_schema=1",
            "DELETE FROM message",
        ):
            with pytest.raises(sqlite3.DatabaseError):
                connection.execute(statement)
        assert connection.execute("SELECT count(*) FROM session").fetchone() == (1,)


def test_reading_does_not_write(store, tmp_path):
    """A database in use is read with what is not merged yet, and its files stay as they are."""
    store.session()
    store.prompt("msg_1")
    wal = tmp_path / "opencode.db-wal"
    before = (store.path.read_bytes(), wal.read_bytes())
    assert wal.stat().st_size
    assert len(runs(store.path)) == 1
    assert (store.path.read_bytes(), wal.read_bytes()) == before


def test_a_database_that_nobody_uses(store, tmp_path):
    """A closed database is read in a folder where nothing may be written."""
    store.session()
    store.prompt("msg_1")
    store.connection.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["opencode.db"]
    assert len(runs(store.path)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["opencode.db"]


def test_damaged_content(store, tmp_path):
    """A message or a part that cannot be read is named; everything else is read."""
    store.session()
    store.prompt("msg_1")
    store.answer("msg_2", ran("ls", 0))
    store.connection.execute("UPDATE part SET data='{\"type\":' WHERE message_id='msg_2'")
    store.message("msg_3")
    store.connection.execute("UPDATE message SET data='[]' WHERE id='msg_3'")
    store.connection.commit()
    found = read(store.path)
    bad = [each for each in found if isinstance(each, Unreadable)]
    assert {each.place for each in bad} == {"message msg_3", "a part of message msg_2"}
    assert len(found) > len(bad)
    other = tmp_path / "other.db"
    other.write_text("no database at all, but long enough to have a header, perhaps" * 20)
    (bad,) = read(other)
    assert bad.place == "the database"
