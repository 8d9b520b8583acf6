"""Every command that starts a process works in a folder full of foreign modules, and runs none."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

TRACKRECORD = Path(sys.executable).with_name("trackrecord")
# What a repository may be called like, besides every module of the standard library.
FOREIGN = (
    *("alembic", "billiard", "celery", "celeryconfig", "click", "httpx", "jinja2", "kombu", "mcp"),
    *("msgspec", "platformdirs", "psycopg", "pydantic", "pydantic_settings", "redis", "rich"),
    *("sitecustomize", "settings", "sqlalchemy", "starlette", "structlog", "usercustomize"),
    *("uvicorn", "trackrecord", "trackrecord_capture", "trackrecord_cli", "trackrecord_door"),
    *("trackrecord_consolidation", "trackrecord_producers", "trackrecord_worker", "vine"),
)
THREAD = "01a20168-5106-7f52-b27b-c498fee45552"
PATIENCE_S = 120.0


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A working folder in which each module and package says that it was run."""
    folder = tmp_path / "repository"
    folder.mkdir()
    for name in (*FOREIGN, *sys.stdlib_module_names):
        code = f"open({str(tmp_path / 'RUN')!r}, 'a').write({name!r} + ' ')\n"
        (folder / f"{name}.py").write_text(code)
    for name in FOREIGN:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_bytes((folder / f"{name}.py").read_bytes())
    return folder


@pytest.fixture
def home() -> Iterator[Path]:
    """A home outside of the folder, as everybody has one."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def start(
    foreign: Path, home: Path, *command: str | Path, **variables: str
) -> subprocess.Popen[str]:
    """Start a command in the folder; a Django project's shell names its settings."""
    environment = {
        **os.environ,
        "TRACKRECORD_HOME": str(home),
        "DJANGO_SETTINGS_MODULE": "settings",
        **variables,
    }
    environment.pop("PYTHONPATH", None)
    return subprocess.Popen(
        list(command),
        cwd=foreign,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def was_run(foreign: Path) -> str:
    """The names of the modules that were run."""
    note = foreign.parent / "RUN"
    return note.read_text() if note.exists() else ""


def ended(process: subprocess.Popen[str], said: str = "") -> str:
    """Wait until a command has ended in order; return all that it said."""
    rest, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said + rest
    return said + rest


def until_said(process: subprocess.Popen[str], text: str) -> str:
    """Read what a command says until it has said this."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if text in line:
            return said
    raise AssertionError(said)


def test_up_learns(foreign, home):
    """The worker, beat and HTTP start and learn; a relative path means the folder of `up`."""
    up = start(foreign, home, TRACKRECORD, "up", TRACKRECORD_DATABASE_URL="sqlite:///own.db")
    said = until_said(up, "HTTP: http://")
    line = json.dumps({"task_id": "t", "success": True, "strategy": "Split by component"})
    url = {"TRACKRECORD_DATABASE_URL": "sqlite:///own.db"}
    publish = start(foreign, home, TRACKRECORD, "publish", "-", "--wait", **url)
    publish.communicate(line, timeout=PATIENCE_S)
    assert publish.returncode == 0
    patterns = (TRACKRECORD, "patterns", "list", "--json")
    assert "split-by-component" in ended(start(foreign, home, *patterns, **url))
    assert (foreign / "own.db").exists()
    up.send_signal(signal.SIGTERM)
    ended(up, said)
    assert was_run(foreign) == ""


def test_import_learns(foreign, home):
    """What an agent has recorded is read and learnt by a worker of the command's own."""
    sessions = home / ".codex" / "sessions" / "2026" / "11" / "20"
    sessions.mkdir(parents=True)
    events = [
        ("session_meta", {"id": THREAD, "cwd": str(foreign), "source": "cli"}),
        ("event_msg", {"type": "task_started", "turn_id": "1"}),
        ("event_msg", {"type": "user_message", "message": "Mend the cart"}),
        ("event_msg", {"type": "task_complete", "turn_id": "1"}),
    ]
    lines = [
        json.dumps({"timestamp": "2026-11-20T10:00:00Z", "type": kind, "payload": payload})
        for kind, payload in events
    ]
    path = sessions / f"rollout-2026-11-20T10-00-00-{THREAD}.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    person = {"HOME": str(home), "CODEX_HOME": str(home / ".codex")}
    assert "1 run read" in ended(start(foreign, home, TRACKRECORD, "import", "codex", **person))
    assert was_run(foreign) == ""


def test_the_demo_ends_in_order(foreign, home):
    """With its agents."""
    ended(start(foreign, home, TRACKRECORD, "demo", "--outcomes", "100", "--agents", "1"))
    assert was_run(foreign) == ""


def test_serve(foreign, home):
    """The HTTP server alone."""
    serve = start(foreign, home, TRACKRECORD, "serve")
    until_said(serve, "HTTP: http://")
    serve.terminate()
    serve.communicate(timeout=PATIENCE_S)
    assert was_run(foreign) == ""


def test_what_agents_start(foreign, home):
    """The hook, and the MCP server, as the configurations of agents name them."""
    variables = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "claude")}
    (home / "claude").mkdir()
    ended(start(foreign, home, TRACKRECORD, "install", "claude-code", "--mcp", **variables))
    hook = start(foreign, home, home / "agents" / "hook", "claude-code")
    hook.communicate('{"hook_event_name": "Stop"}', timeout=PATIENCE_S)
    for command in ([home / "agents" / "mcp"], [TRACKRECORD, "mcp"]):
        server = start(foreign, home, *command)
        request = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        }
        assert server.stdin is not None
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        assert "serverInfo" in until_said(server, '"id":1')
        server.stdin.close()
        server.wait(PATIENCE_S)
        server.stdout.close()
    assert was_run(foreign) == ""
