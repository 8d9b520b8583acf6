"""Makes the test inputs of a landed state of the store, with that state's own wheel.

    git worktree add --detach /tmp/state COMMIT
    (cd /tmp/state && python -m hatchling build -t wheel -d dist)
    python -m venv /tmp/venv
    /tmp/venv/bin/pip install "$(echo /tmp/state/dist/*.whl)[worker,postgres,embedded]"
    python -m tests.landed.make /tmp/venv tests/landed/VERSION-COMMIT

It runs that state's `trackrecord up` and its commands: on SQLite, then on PostgreSQL. The folder
gets both stores, what the lists answered of each, an export, a backup, a home with a spool, and
what `trackrecord install all` wrote for coding agents.
"""

import json
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import redis

from tests.landed.asking import CACHED, LISTS, PROJECT, USER_HOME
from tests.support.postgres import new_server, postgres_wheel
from trackrecord_capture.agents.known import AGENTS

_DAY: Final = 86_400
_PATIENCE_S: Final = 900.0
# Of three times: removed but for what they count for, without their texts, and whole.
_AGES_DAYS: Final = (300, 150, 3)
_REMOVING: Final = {
    "TRACKRECORD_RETENTION__OUTCOMES_DAYS": "200",
    "TRACKRECORD_RETENTION__BODIES_DAYS": "100",
}
_ASK: Final = (
    "import sys, time; time.time = lambda: {moment}; "
    "from trackrecord_cli.main import run; run(sys.argv[1:])"
)
# What a worker does, at a moment: puts rankings and advice where agents read them.
_CACHE: Final = """
import time; time.time = lambda: {moment}
from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord_worker.app import create_app
from trackrecord_worker.services import Services
settings = load_daemon_settings()
stages = Services(settings, create_app(settings))
stages.refresher.refresh(settings.project, force=True)
stages.adviser.advise(settings.project, force=True)
"""
# Redis is away: these wait in the spool.
_SPOOL: Final = """
import trackrecord
trackrecord.publish(outcome_id="o-spooled", task_id="t-spooled", success=True, source="ann")
trackrecord.remember("Spools are forwarded", source="ann")
trackrecord.flush()
"""


class _State:
    """An installed state of the product, in a home of its own.

    Args:
        venv: where it is installed.
        home: its TRACKRECORD_HOME.
        settings: further settings.
    """

    def __init__(self, venv: Path, home: Path, settings: dict[str, str]) -> None:
        self._bin = venv / "bin"
        self._home = home
        outside = {k: v for k, v in os.environ.items() if not k.startswith("TRACKRECORD_")}
        self._env = {
            **outside, "TRACKRECORD_HOME": str(home), "TRACKRECORD_HTTP__PORT": "0",
            "TRACKRECORD_PROJECT": PROJECT, "USER": "zoe", "LOGNAME": "zoe", **settings,
        }  # fmt: skip

    def run(self, *arguments: str, text: str | None = None, **settings: str) -> str:
        """Return what a command prints."""
        return self._done([str(self._bin / "trackrecord"), *arguments], text, settings)

    def python(self, program: str, *arguments: str) -> str:
        """Return what a program of Python prints."""
        return self._done([str(self._bin / "python"), "-P", "-c", program, *arguments], None, {})

    def _done(self, command: list[str], text: str | None, settings: dict[str, str]) -> str:
        env = self._env | settings
        done = subprocess.run(
            command, env=env, input=text, capture_output=True, text=True, check=False
        )
        if done.returncode:
            message = f"{' '.join(command)}: {done.stderr}"
            raise SystemExit(message)
        return done.stdout

    @contextmanager
    def up(self) -> Iterator[redis.Redis]:
        """Everything runs; yields a client of its Redis."""
        command = [str(self._bin / "trackrecord"), "up"]
        with (
            (self._home / "up.log").open("w") as log,
            subprocess.Popen(command, env=self._env, stdout=log, stderr=log) as process,
        ):
            try:
                _wait_for(lambda: "trackrecord is up" in (self._home / "up.log").read_text())
                with redis.Redis(unix_socket_path=str(self._home / "redis.sock")) as client:
                    yield client
            finally:
                process.terminate()


def _wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            message = "waited in vain"
            raise SystemExit(message)
        time.sleep(0.1)


def _outcomes(age_days: int, count: int) -> Iterator[dict[str, Any]]:
    """Tasks of a made-up shop: which of two ways works, and what a failing call needs first."""
    for number in range(count):
        name = f"{age_days}-{number}"
        is_careful = number % 2 == 0
        success = is_careful != (number in (5, 10))
        calls = [
            {"tool": "search", "id": 1, "args": {"query": "price"}, "ok": True, "duration_ms": 40},
            {"tool": "edit", "id": 2, "args": {"file": "shop/price.py"}, "ok": True,
             "depends_on": [1]},
            {"tool": "shell", "id": 3, "args": {"command": "make test"}, "ok": success,
             **({} if success else {"error": "make: *** [test] Error 1: no database is running"}),
             "depends_on": [2],
             "checks": [{"kind": "test", "state": "passed" if success else "ran",
                         "line": "make test", "is_whole": True}]},
        ]  # fmt: skip
        failed = {"failure_mode": "tests", "failure_details": "1 test failed"}
        yield {
            "outcome_id": f"o-{name}", "task_id": f"t-{name}", "success": success,
            "duration_ms": 1000 * (number + 1), "error_count": 0 if success else 2,
            "retry_count": 0 if success else 2, "source": ("ann", "bob", "mallory")[number % 3],
            "outcome_source": ("tests", "explicit")[number % 2],
            "strategy": "small steps" if is_careful else "all at once",
            "description": "First write a test, then fix it." if is_careful else "Just fix it.",
            "patterns": ["read first"] if is_careful else ["guess"],
            "trigger": {"signal": "price is wrong", "conditions": {"os": "linux"}},
            "instruction": f"Fix the price of item {number} in the shop",
            "tool_graph": calls, "files_touched": ["shop/price.py"],
            "criteria": {"is short": "helpful" if success else "harmful", "has tests": "neutral"},
            "process": {"reviews": 1, "rejections": 0 if success else 1,
                        "test_fail_loops": 0 if success else 3},
            "cost": {"tokens_in": 1200 + number, "tokens_out": 300, "usd": 0.02},
            "commits": [f"{number:07x}{age_days:04x}"], "metadata": {"made": "up"},
            **({} if success else failed), **({} if number % 7 else {"memory_ids": ["m-port"]}),
        }  # fmt: skip


def _entries(now: int) -> Iterator[tuple[float, str, dict[str, Any]]]:
    """Every kind of entry on the wire, in the order of time, as if it had come then."""
    for age_days in _AGES_DAYS:
        moment = now - age_days * _DAY
        for number, outcome in enumerate(_outcomes(age_days, 12 if age_days > 200 else 24)):
            at = moment + 60 * number
            yield at, "body", {**outcome, "timestamp": at}
    yield from ((now - _DAY, field, body) for field, body in _last_entries())


def _last_entries() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the fields and bodies of entries of the day before."""
    port = "Port 5432 belongs to the database"
    yield "memory", {"memory_id": "m-port", "source": "ann", "text": port}
    other = port.replace("belongs", "does not belong")
    yield "memory", {"memory_id": "m-not", "source": "bob", "text": other}
    yield "memory", {"memory_id": "m-cache", "text": "夜间构建之前需要清理缓存"}
    for number in range(6):
        task = f"t-new-{number}"
        yield "exposure", {
            "exposure_id": f"e{number}", "task_id": task, "withheld": number == 5,
            "entries": ["read-first", "memory:m-port"], "holdout": 0.2, "propensity": 0.8,
        }  # fmt: skip
        yield "body", {
            "outcome_id": f"o-new-{number}", "task_id": task, "success": number % 2 == 0,
            "source": "ann", "strategy": "small steps", "memory_ids": ["m-port"],
        }  # fmt: skip
    yield "hint", {
        "hint_id": "h1", "session": "s1", "entry": "known failure: line make test",
        "kind": "known failure", "given": True, "probability": 0.5, "key": "line make test",
        "check": "test", "tool": "shell:make test", "source": "ann",
        "text": "`make test` failed in the last 3 sessions.",
    }  # fmt: skip
    yield "recall", {"memories": ["m-cache"]}
    for number, judged in enumerate((
        {"verdict": "helpful", "pattern": "read first"},
        {"verdict": "harmful", "criterion": "is short"},
        {"verdict": "helpful", "memory": "m-cache"},
        {"verdict": "helpful", "pattern": "not seen yet"},
    )):  # fmt: skip
        yield "feedback", {"feedback_id": f"f{number}", "source": "bob", **judged}
    yield "error", {"error_id": "x1", "task_id": "t-new-9", "message": "no database"}
    later = {"outcome_id": "o-3-2", "task_id": "t-3-2", "success": False, "source": "ann"}
    yield "body", {**later, "failure_mode": "seen later"}
    yield "body", {"outcome_id": "o-open", "task_id": "t-open", "success": None}
    yield "body", {"outcome_id": "", "task_id": "dead"}


def _report(client: redis.Redis) -> None:
    """Append them: an entry's id is the time at which Redis received it."""
    for number, (at, field, body) in enumerate(_entries(int(time.time()))):
        told = json.dumps({**body, "project": PROJECT})
        client.xadd("trackrecord:outcomes", {"v": 1, field: told}, id=f"{int(at)}{number:03}-0")


def _decide(state: _State) -> None:
    """Decide whatever a person can decide."""
    run = state.run
    for name, verdict in (("dora", "--success"), ("emil", "--failure"), ("zoe", "--success")):
        run("amend", "o-3-1", verdict, "--reason", f"{name} has looked", "--by", name)
    red = ("--failure", "--reason", "the build is red", "--evidence", "tests", "--by", "ci")
    run("amend", "--commit", "00000040003", *red)
    run("memories", "confirm", "m-cache")
    run("memories", "reject", "m-port")
    run("consolidate")
    _revise(state)
    run("patterns", "promote", "read-first", "--reason", "it works")
    run("patterns", "deprecate", "guess", "--reason", "it does not")
    run("patterns", "tag", "guess", "--add", "risky", "--add", "old")
    run("patterns", "tag", "guess", "--remove", "old")
    for resource in ("lessons", "commands"):
        for each in json.loads(run(resource, "list", "--everything", "--json"))[:1]:
            run(resource, "dismiss", each["id"], "--reason", "known")
    run("effect", "--enable", "--holdout", "0.2", "--reason", "to measure it")
    run("token", "create", "--name", "ci", "--write")


def _revise(state: _State) -> None:
    """Make competence records by hand, and revise them and what was learnt."""

    def add(name: str, *tools: str) -> str:
        steps = [part for tool in tools for part in ("--tool", tool)]
        described = ("--skill-name", name, "--tag", "money", "--reason", "known by heart")
        trigger = ("--trigger", f"{name} a bill")
        told = state.run("competences", "add", *steps, *trigger, "--json", *described)
        return str(json.loads(told)["records"][0]["id"])

    paying, checking, old, odd = (
        add("pay", "search", "pay"), add("check", "search", "compare"), add("old", "fax"),
        add("odd", "dial"),
    )  # fmt: skip
    outcome = {"task_id": "t-paid", "success": True, "competence_id": paying, "source": "ann"}
    state.run("publish", "-", "--wait", text=json.dumps(outcome))
    for change in (
        ("reinforce", paying),
        ("penalize", checking, "--amount", "0.1"),
        ("fork", paying, "--changes", '{"skill_name": "pay twice"}'),
        ("merge", paying, checking),
        ("contest", odd, "--evidence", "ticket 7"),
        ("retract", old),
    ):
        state.run("competences", *change, "--reason", "seen so", "--by", "zoe")


def _asked(state: _State, commands: tuple[tuple[str, ...], ...], moment: int) -> dict[str, Any]:
    program = _ASK.format(moment=moment)
    answers = {
        " ".join(each): json.loads(state.python(program, *each, "--json")) for each in commands
    }
    for place in ("home", "redis", "database"):
        del answers["status"][place]
    return answers


def _make(state: _State, client: redis.Redis) -> dict[str, Any]:
    """Fill the store; return what it answers."""
    _report(client)
    _wait_for(lambda: client.xlen("trackrecord:outcomes") == 0)
    _decide(state)
    state.run("prune", **_REMOVING)
    state.run("forget", "--source", "mallory", "--yes", "--by", "zoe")
    state.run("consolidate")
    waiting = next(_outcomes(0, 1)) | {"project": PROJECT}  # for the next night
    state.run("publish", "-", "--wait", text=json.dumps(waiting))
    moment = int(time.time()) + 60
    state.python(_CACHE.format(moment=moment))
    return {"moment": moment} | _asked(state, (*LISTS, *CACHED), moment)


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))


def _json(answers: dict[str, Any]) -> bytes:
    return json.dumps(answers, ensure_ascii=False, indent=1).encode()


def main(venv: Path, folder: Path) -> None:
    """Make all test inputs of a state.

    Args:
        venv: where the state is installed.
        folder: where to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _on_sqlite(venv, folder)
    _on_postgresql(venv, folder)
    _write(folder / "installed.json.xz", _json(_installed(venv)))


def _on_sqlite(venv: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="tr-") as name:
        home = Path(name)
        state = _State(venv, home, {})
        with state.up() as client:
            _write(folder / "sqlite.json.xz", _json(_make(state, client)))
            state.run("backup", str(home / "a-backup"))
            state.run("export", str(home / "an-export"))
        state.python(_SPOOL)
        for file in ("a-backup", "an-export"):
            _write(folder / f"{file.split('-')[1]}.xz", (home / file).read_bytes())
            (home / file).unlink()
        _pack(home, folder / "home.tar.xz")


def _on_postgresql(venv: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="tr-") as name, new_server() as server:
        url = server.get_uri()
        given = url.replace("postgresql://", "postgresql+psycopg://", 1)
        state = _State(venv, Path(name), {"TRACKRECORD_DATABASE_URL": given})
        with state.up() as client:
            _write(folder / "postgresql.json.xz", _json(_make(state, client)))
        program = max(Path(postgres_wheel().__file__ or "").parent.glob("*/bin/pg_dump"))
        dumped = subprocess.run(
            [program, "--inserts", "--no-owner", "--no-acl", url], capture_output=True, check=True
        ).stdout
        # Without what only psql knows, and what only the newest servers do.
        lines = dumped.splitlines(keepends=True)
        kept = (each for each in lines if not each.startswith((b"\\", b"SET transaction_timeout")))
        _write(folder / "postgresql.sql.xz", b"".join(kept))


def _installed(venv: Path) -> dict[str, str]:
    """Return the files that make coding agents report, by their paths in the user's home."""
    with tempfile.TemporaryDirectory(prefix="tr-") as name:
        user = Path(name)
        for agent in AGENTS.values():
            (user / agent.folder().relative_to(Path.home())).mkdir(parents=True)
        before = set(user.rglob("*"))
        state = _State(venv, user / ".trackrecord", {"HOME": name})
        state.run("install", "all", "--mcp", "--summarise", "--no-measure")
        files = (each for each in {*user.rglob("*")} - before if each.is_file())
        written = {str(each.relative_to(user)): each.read_text() for each in files}
    places = ((name, USER_HOME), (str(venv), f"{USER_HOME}/venv"))
    for here, there in places:
        written = {path: text.replace(here, there) for path, text in written.items()}
    return dict(sorted(written.items()))


# What is of one machine, or a key.
_LEFT_OUT: Final = ("*.sock", "*.lock", "*.log", "http-token", "*password", "*.acl", "*-shm")


def _pack(home: Path, file: Path) -> None:
    def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if any(Path(member.name).match(each) for each in _LEFT_OUT):
            return None
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(file, "w:xz", preset=9) as packed:
        packed.add(home, "home", filter=kept)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
