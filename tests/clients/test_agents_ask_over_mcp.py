"""Real agents use the MCP server: its instructions reach the model, and its tools do their work."""

import json
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from tests.clients.on_record import Trackrecord, until, up
from tests.clients.real_agents import AGENTS, played
from tests.clients.steps import Run, Say, Use
from tests.support.own_token import of_its_user, token_of
from tests.support.processes import free_port

pytestmark = pytest.mark.timeout(600)
FACT = "The cart rounds to whole cents"
ASKED = "Fix the rounding of the cart"
INSTRUCTIONS = "trackrecord keeps what earlier runs of agents in this project have shown"
TASK_ID = "rounding-1"
# Clients connect to their servers while the model is asked for the first time.
_MEANWHILE = Run("sleep 3")


@pytest.fixture(scope="module")
def alone():
    """A trackrecord that is up, and installed in no agent; with the address of its server."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        settings = {"TRACKRECORD_HTTP__PORT": str(port)}
        trackrecord = Trackrecord(home / "up", home, settings)
        with up(trackrecord, home / "up.log"):
            # Codex waits for a server that it starts, and not long for one that answers late.
            asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            accepted = {"accept": "application/json, text/event-stream"}
            url = f"http://127.0.0.1:{port}/mcp"
            own = of_its_user(url, trackrecord.home)
            httpx.post(own, json=asked, headers=accepted, timeout=60).raise_for_status()
            yield trackrecord, url


@pytest.fixture
def person_of_this_test(tmp_path):
    """The home of a person whose agents have nothing of ours."""
    person = tmp_path / "person"
    person.mkdir()
    for agent in AGENTS.values():
        agent.configure(person)
    return person


def by_address(name, url, token):
    """Return the server as an agent's configuration names it."""
    headers = {"Authorization": f"Bearer {token}"}
    if name.startswith("codex"):
        return {"url": url, "http_headers": headers}
    kind = "http" if name == "claude-code" else "remote"
    return {"type": kind, "url": url, "headers": headers}


def by_command(name, project, home):
    """Return what starts the server, as an agent's configuration names it."""
    command = [sys.executable, "-m", "trackrecord_cli", "mcp", "--project", project]
    variables = {"TRACKRECORD_HOME": str(home)}
    if name == "opencode":
        return {"type": "local", "command": command, "environment": variables}
    return {"command": command[0], "args": command[1:], "env": variables}


def register(name, person, server):
    """Name a server where a person would."""
    if name == "claude-code":
        (person / ".claude.json").write_text(json.dumps({"mcpServers": {"trackrecord": server}}))
    elif name == "opencode":
        path = person / ".config" / "opencode" / "opencode.json"
        path.write_text(json.dumps({"mcp": {"trackrecord": server}}))
    else:
        below = ("env", "http_headers")
        tables = {"": {key: each for key, each in server.items() if key not in below}}
        tables |= {f".{key}": server.get(key, {}) for key in below}
        path = person / ".codex" / "config.toml"
        with path.open("a") as config:
            for table, values in tables.items():
                config.write(f"\n[mcp_servers.trackrecord{table}]\n" if values else "")
                config.writelines(f"{key} = {json.dumps(each)}\n" for key, each in values.items())


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("name", sorted(AGENTS))
def test_an_agent_recalls_and_reports(name, transport, alone, workplace, person_of_this_test):
    """The model reads what is known where it asked, and the outcome is on record."""
    trackrecord, url = alone
    project = f"{name}-{transport}"
    trackrecord("memories", "add", FACT, "--project", project)
    until(lambda: FACT in trackrecord("rankings", "--project", project, "--format", "prompt"))
    server = by_address(name, f"{url}?project={project}", token_of(trackrecord.home))
    if transport == "stdio":
        server = by_command(name, project, trackrecord.home)
    register(name, person_of_this_test, server)
    place = workplace(project)._replace(home=person_of_this_test)
    printed, requests = played(
        AGENTS[name],
        place,
        {
            ASKED: (
                _MEANWHILE,
                Use("recall", {"task": ASKED, "task_id": TASK_ID}),
                Use("report_outcome", {"task_id": TASK_ID, "success": False,
                                       "outcome_source": "tests"}),
                Say("It is reported."),
            )
        },
        ASKED,
    )  # fmt: skip
    assert INSTRUCTIONS in requests[-1], printed
    assert any(FACT in request for request in requests), printed
    until(lambda: trackrecord.runs(project))
    (run,) = trackrecord.runs(project)
    assert (run["task_id"], run["success"]) == (TASK_ID, False)


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_an_agent_that_was_installed_for_remembers(name, live_with_mcp, workplace):
    """In the project of its folder, as its hooks name it; there is nothing to report by hand."""
    project = f"{name}-remembers"
    place = workplace(project)
    printed, requests = played(
        AGENTS[name],
        place,
        {ASKED: (_MEANWHILE, Use("remember", {"text": FACT}), Say("I shall remember it."))},
        ASKED,
    )
    assert INSTRUCTIONS in requests[-1], printed
    assert "report_outcome" not in requests[-1]
    rankings = ("rankings", "--project", project, "--format", "prompt")
    assert until(lambda: FACT in live_with_mcp(*rankings)), printed
    # Asking us is no step of the work that its hooks report; a turn that goes on is amended.
    assert until(lambda: _tools(live_with_mcp.runs(project)) == [["shell:sleep"]]), printed


def _tools(runs):
    # Of a script that calls us, Codex's log says that there was a script.
    return [[call["tool"] for call in run["calls"] if call["tool"] != "exec"] for run in runs]


@pytest.fixture
def live_with_mcp(live):
    """The trackrecord of all tests, whose agents have its MCP server meanwhile."""
    live("install", "all", "--mcp")
    yield live
    live("install", "all", "--no-mcp")
