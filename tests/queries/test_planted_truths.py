"""Five truths planted in the sessions of a made-up repository: which are told, and in what order.

The seeds are drawn afresh each time; a failure names the one that it came from.
"""

import random

import pytest

from tests.capture.made_runs import run_of
from tests.learning.advice.test_moments import cached
from tests.store.teaching import learn_reports
from trackrecord.learning.advice.moments.calls import TriedRun
from trackrecord.learning.advice.moments.hints import SessionCalls, hint_after
from trackrecord.resources.experience.commands import CommandState
from trackrecord.resources.prompt_documents.advice import count_advice, with_moments
from trackrecord.resources.reports.agents_work import told_commands
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord.wire.tried_calls import tried_digest, tried_run
from trackrecord_capture.agent_run import RunCall
from trackrecord_capture.outcome import outcome_of

SETTINGS = DaemonSettings()
NOW = 1_780_000_000.0
DAY = 86_400.0
RUNS = 170
NO_MODULE = "/usr/bin/python: No module named pytest"
REFUSED = (
    "psycopg.OperationalError: connection to server at localhost, port 5432: Connection refused"
)
WORKSPACE = 'npm error code EUNSUPPORTEDPROTOCOL\nnpm error Unsupported URL Type "workspace:"'
HOOK = "commit-msg: error: formatting was not run, the commit is refused"
UNREAD = "<tool_use_error>File has not been read yet. Read it first before writing to it."
PASSED = "===== 41 passed in 3.21s ====="


class Session:
    """One run of an agent in which the truths hold."""

    def __init__(self, seed, number):
        self.choose = random.Random(f"{seed} {number}")
        self.number = number
        self.started_at = NOW - (RUNS - number) * DAY / 6
        self.calls = []
        self.is_up = self.is_formatted = False
        self.read = set()

    def shell(self, command, *, error="", result=""):
        """Run a command line."""
        self._add(
            tool="Bash", command=command, ok=not error, error=error, result=error or result,
            exit_code=1 if error else 0,
        )  # fmt: skip

    def file(self, tool, path, *, error=""):
        """Call a tool for files."""
        edits = (path,) if tool == "Edit" and not error else ()
        self._add(tool=tool, arguments={"file_path": path}, ok=not error, error=error, edits=edits)

    def _add(self, **fields):
        at = self.started_at + 5 * len(self.calls)
        self.calls.append(RunCall(id=f"c{len(self.calls)}", started_at=at, **fields))

    def run(self):
        """Return the run, as its agent went about it."""
        chance = self.choose.random
        if chance() < 0.35:
            self.shell("npm install", error=WORKSPACE)
            self.shell("pnpm install", result="Done in 2.1s")
        path = f"/work/shop/src/{self.choose.choice('abcdefgh')}.py"
        if chance() < 0.3:
            self.file("Edit", path, error=UNREAD)
        self.file("Read", path)
        self.file("Edit", path)
        if chance() < 0.3:
            self.shell("git status --short", result=" M src/a.py")
        if chance() < 0.7:
            self.shell("python -m pytest -q", error=NO_MODULE)
        self.tests()
        if chance() < 0.6:
            self.commit()
        return run_of(
            *self.calls, session=f"s{self.number}", prompt=f"p{self.number}", folder="/work/shop",
            started_at=self.started_at, ended_at=self.started_at + 5 * len(self.calls),
            instruction=f"Mend part {self.number} of the shop",
        )  # fmt: skip

    def tests(self):
        """The tests run once the database is up."""
        if self.choose.random() < 0.5:
            self.shell("uv run pytest -q", error=REFUSED)
        if self.choose.random() < 0.3:
            self.shell("docker ps", result="CONTAINER ID")
        self.shell("docker compose up -d db", result="Container shop-db-1 Started")
        self.shell("uv run pytest -q", result=PASSED)

    def commit(self):
        """A commit goes through once the formatter has run."""
        line = f"git commit -am 'part {self.number}'"
        if self.choose.random() < 0.6:
            self.shell(line, error=HOOK)
        self.shell("just tidy", result="3 files reformatted")
        self.shell(line, result="[main 1a2b3c4] part")


@pytest.fixture
def seed():
    """A seed that no test has seen."""
    return random.SystemRandom().randrange(10**9)


def taught(store, seed):
    """A store that has learnt the sessions of a seed, in an order of its own."""
    reports = [outcome_of(Session(seed, number).run()) for number in range(RUNS)]
    random.Random(seed).shuffle(reports)
    learn_reports(store, reports, SETTINGS.rules, now=NOW)
    return store


def test_four_of_five_are_told(memory_store, seed):
    """The launcher, the service, the hook and the package manager, and nothing but them."""
    with reading(taught(memory_store(), seed)) as connection:
        told_to_people(connection, seed)
        told_to_agents(connection, seed)


def told_to_people(connection, seed):
    """The costliest first."""
    (told,) = told_commands(connection, SETTINGS).values()
    failing = [each for each in told if each.state is not CommandState.RUNS]
    lines = {each.line: each for each in failing}
    assert set(lines) == {
        "python -m pytest -q", "uv run pytest -q", "npm install", "git commit",
    }, seed  # fmt: skip
    assert lines["python -m pytest -q"].instead == "uv run pytest -q", seed
    assert lines["uv run pytest -q"].instead == "docker compose up", seed
    assert lines["git commit"].instead == "just tidy", seed
    assert lines["python -m pytest -q"].state is CommandState.NEVER_RAN
    costs = [each.calls for each in failing]
    assert costs == sorted(costs, reverse=True), (seed, costs)
    assert failing[0].line == "python -m pytest -q", seed


def told_to_agents(connection, seed):
    """At the failure, each at most once; of the unread file, nothing."""
    counted, _ = count_advice(connection, "shop", SETTINGS.rules, now=NOW)
    _, moments = with_moments(connection, "shop", counted)
    (facts,) = moments.repositories.values()
    texts = {}
    for command, error in (
        ("python -m pytest -q", NO_MODULE),
        ("uv run pytest -q", REFUSED),
        ("npm install", WORKSPACE),
        ("git commit -am 'more'", HOOK),
    ):
        session = Session(seed, RUNS)
        session.shell(command, error=error)
        texts[command] = [hint.text for hint in hints(facts, session)]
    assert all(len(told) == 1 for told in texts.values()), (seed, texts)
    assert "`uv run pytest -q`" in texts["python -m pytest -q"][0]
    assert "`docker compose up`" in texts["uv run pytest -q"][0]
    assert "in none of them did it work later" in texts["npm install"][0]
    assert "`just tidy`" in texts["git commit -am 'more'"][0]
    session = Session(seed, RUNS)
    session.file("Edit", "/work/shop/src/a.py", error=UNREAD)
    assert hints(facts, session) == []


def hints(facts, session):
    """Return the hints of a session, call by call."""
    times = {"started_at": NOW, "ended_at": NOW}
    run = run_of(*session.calls, session="new", folder="/work/shop", **times)
    tried: TriedRun = tried_run(
        tried_digest(decode_outcome(encode_body(outcome_of(run)))), outcome=0, ended_at=NOW
    )
    state, told = SessionCalls(id="new"), []
    for call in tried.calls:
        state.add(call)
        hint = hint_after(cached(facts), call, call.error, state, now=NOW)
        if hint is not None:
            state.note(hint)
            told.append(hint)
    return told
