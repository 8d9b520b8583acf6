"""What a landed state installed for coding agents goes on working with today's front door."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.capture.test_hook_script import START
from tests.capture.test_opencode_plugin import SCRIPT
from tests.door.test_live_hooks import THREAD, Codex
from tests.landed.asking import PROJECT, USER_HOME
from tests.landed.states import STATES, State
from tests.worker.working import until
from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord.settings.settings import load_settings
from trackrecord.store.database.migrate import store_at
from trackrecord_capture.agents.door_address import find_door
from trackrecord_capture.agents.runtime import runtime_folder, wrapper_path
from trackrecord_capture.live.notes import waiting_notes
from trackrecord_cli.main import run
from trackrecord_worker.caching.refresh import RankingsRefresher

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

_HOME = ".trackrecord"


@pytest.fixture(params=STATES, ids=lambda state: state.name)
def user(request, tmp_path, home, monkeypatch) -> Path:
    """A user's home with what was installed then, and trackrecord's home with a store of then."""
    state: State = request.param
    state.unpack_home(home)
    places = {f"{USER_HOME}/{_HOME}": home, f"{USER_HOME}/venv/bin/python": sys.executable,
              USER_HOME: tmp_path}  # fmt: skip
    for name, text in state.installed():
        inside, here = name.startswith(f"{_HOME}/"), name.removeprefix(f"{_HOME}/")
        path = home / here if inside else tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for then, now in places.items():
            text = text.replace(then, str(now))
        path.write_text(text)
        path.chmod(0o700)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    for variable in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def open_door(home) -> Iterator[Callable[[], None]]:
    """Starts the front door, and leaves the hooks as they were then."""
    running = []

    def start() -> None:
        then = {
            each: each.read_bytes() for each in runtime_folder(home).iterdir() if each.is_file()
        }
        env = os.environ | {"TRACKRECORD_HTTP__PORT": "0"}
        with (home / "door.log").open("ab") as log:
            command = [sys.executable, "-m", "trackrecord_door"]
            running.append(subprocess.Popen(command, env=env, stdout=log, stderr=log))
        until(lambda: find_door(home))
        for path, content in then.items():
            path.write_bytes(content)

    yield start
    for process in running:
        process.kill()
        process.wait()


def _hook(home: Path, agent: str, given: dict[str, str]) -> str:
    command = [str(wrapper_path(home)), agent]
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return done.stdout


def test_doctor_finds_it_in_place(user, capfd):
    """Or says which command puts it there: for every agent one of the two."""
    run(["doctor", "--json"])
    told = {each["agent"]: each for each in json.loads(capfd.readouterr().out)["agents"]}
    for name in ("claude-code", "codex", "gemini-cli", "opencode", "qwen-code"):
        wants = f"run `trackrecord install {name}`" in told[name]["advice"]
        assert (told[name]["installed"] and told[name]["mcp"]) == (not wants)


def test_an_end_that_an_old_hook_noted_becomes_an_outcome(user, home, client, open_door):
    """The notes of before and those of after the upgrade."""
    codex = Codex(user, home)
    keys = load_settings(home=home).keys

    def is_reported(name: str) -> bool:
        entries = [each for _, each in client.xrange(keys.outcomes)]
        told = [json.loads(each[b"body"]) for each in entries if b"body" in each]
        return f"codex:{THREAD}:{name}" in [each["outcome_id"] for each in told]

    for name in ("t1", "t2"):
        codex.turn(name, f"Fix the tests of {name}")
        codex.end(name)
        codex.notify(name)
        assert list(waiting_notes(home))
        if name == "t1":
            open_door()
        until(lambda name=name: is_reported(name))


def test_old_hooks_and_plugins_are_told_what_is_known(user, home, redis_server, open_door):
    """At a session's start, by Claude Code's hook and by opencode's plugin."""
    settings = load_daemon_settings()
    with store_at(settings.effective_database_url) as engine, redis_server.client() as client:
        RankingsRefresher(engine, client, settings).refresh(PROJECT, force=True)
    open_door()
    asked = START | {"cwd": f"/src/{PROJECT}"}
    sessions = ({**asked, "session_id": f"a{number}"} for number in itertools.count())
    # A hook waits for a moment only, and a door that has just begun may take longer.
    until(lambda: "read first" in _hook(home, "claude-code", next(sessions)))
    if node := shutil.which("node"):
        plugin = user / ".config/opencode/plugins/trackrecord.js"
        shutil.copy(plugin, user / "trackrecord.mjs")

        def told() -> bytes:
            """Return the prompts that it adds to, of a session that is new."""
            own = f"ses_{next(numbers)}"
            (user / "script.mjs").write_text(SCRIPT.replace("ses_1", own))
            done = subprocess.run([node, "script.mjs"], cwd=user, capture_output=True, check=True)
            assert done.stderr == b""
            return done.stdout

        numbers = itertools.count(10)
        until(lambda: b"read first" in told())


def test_an_old_server_of_mcp_answers(user, home, open_door):
    """As agents start it."""
    open_door()
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}}  # fmt: skip
    done = subprocess.run(
        [str(runtime_folder(home) / "mcp")], input=f"{json.dumps(asked)}\n",
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "trackrecord"
