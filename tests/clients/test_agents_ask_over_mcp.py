"""Real agents use the MCP server: its instructions reach the model, and its tools do their work."""

import json
import sys

import httpx
import pytest
from model_stub import playing
from on_record import Trackrecord, until, up
from real_agents import AGENTS, free_port, missing, work
from steps import Run, Say, Use

if missing():
    pytest.skip(f"{', '.join(missing())}: `make clients` fetches them", allow_module_level=True)

pytestmark = pytest.mark.timeout(600)
FACT = "The cart rounds to whole cents"
ASKED = "Fix the rounding of the cart"
INSTRUCTIONS = "trackrecord keeps what earlier runs of agents in this project have shown"
TASK_ID = "rounding-1"
# Clients connect to their servers while the model is asked for the first time.
_MEANWHILE = Run("sleep 3")


@pytest.fixture
def alone(home, person_of_this_test):
    """A trackrecord that is up, and installed in no agent."""
    port = free_port()
    settings = {"TRACKRECORD_HTTP__PORT": str(port)}
    trackrecord = Trackrecord(home, person_of_this_test, settings)
    with up(trackrecord, home.parent / f"{home.name}.log"):
        trackrecord("memories", "add", FACT)
        until(lambda: FACT in trackrecord("rankings", "--format", "prompt"))
        # Codex waits for a server that it starts, and not for one that is slow to answer at first.
        asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        accepted = {"accept": "application/json, text/event-stream"}
        url = f"http://127.0.0.1:{port}/mcp"
        httpx.post(url, json=asked, headers=accepted, timeout=60).raise_for_status()
        yield trackrecord, url


@pytest.fixture
def person_of_this_test(tmp_path):
    """The home of a person whose agents have nothing of ours."""
    person = tmp_path / "person"
    person.mkdir()
    for agent in AGENTS.values():
        agent.configure(person)
    return person


def register(name, person, server):
    """Name a server as the person would: by its address, or by what starts it."""
    command, variables = [sys.executable, "-m", "trackrecord_cli", "mcp"], {}
    if isinstance(server, dict):
        variables = server
    if name == "claude-code":
        entry = {"type": "stdio", "command": command[0], "args": command[1:], "env": variables}
        entry = entry if variables else {"type": "http", "url": server}
        (person / ".claude.json").write_text(json.dumps({"mcpServers": {"trackrecord": entry}}))
    elif name == "opencode":
        entry = {"type": "local", "command": command, "environment": variables}
        entry = entry if variables else {"type": "remote", "url": server}
        path = person / ".config" / "opencode" / "opencode.json"
        path.write_text(json.dumps({"mcp": {"trackrecord": entry}}))
    else:
        lines = [
            f"command = {json.dumps(command[0])}",
            f"args = {json.dumps(command[1:])}",
            *(f"env.{key} = {json.dumps(value)}" for key, value in variables.items()),
        ]
        path = person / ".codex" / "config.toml"
        table = "\n".join(
            ["[mcp_servers.trackrecord]", *(lines if variables else [f'url = "{server}"'])]
        )
        path.write_text(f"{path.read_text()}\n{table}\n")


def played(agent, place, *steps):
    """Have an agent work; return what it printed, and each request as one text."""
    with playing({ASKED: steps}) as model:
        place = place._replace(model=model.url)
        printed = work(agent, place, ASKED, again=False, interrupt_at=None)
    return printed, [json.dumps(each["body"]) for each in model.asked]


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("name", sorted(AGENTS))
def test_an_agent_recalls_and_reports(name, transport, alone, workplace, person_of_this_test):
    """The model reads what is known where it asked, and the outcome is on record."""
    trackrecord, url = alone
    started = {"TRACKRECORD_HOME": str(trackrecord.home)}
    register(name, person_of_this_test, url if transport == "http" else started)
    place = workplace(f"{name}-{transport}")._replace(home=person_of_this_test)
    printed, requests = played(
        AGENTS[name],
        place,
        _MEANWHILE,
        Use("recall", {"task": ASKED, "task_id": TASK_ID}),
        Use("report_outcome", {"task_id": TASK_ID, "success": False, "outcome_source": "tests"}),
        Say("It is reported."),
    )
    assert INSTRUCTIONS in requests[-1], printed
    assert any(FACT in request for request in requests), printed
    until(lambda: trackrecord.runs("default"))
    (run,) = trackrecord.runs("default")
    assert (run["task_id"], run["success"]) == (TASK_ID, False)


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_an_agent_that_was_installed_for_remembers(name, live_with_mcp, workplace):
    """In the project of its folder, as its hooks name it; there is nothing to report by hand."""
    project = f"{name}-remembers"
    place = workplace(project)
    printed, requests = played(
        AGENTS[name],
        place,
        _MEANWHILE,
        Use("remember", {"text": FACT}),
        Say("I shall remember it."),
    )
    assert INSTRUCTIONS in requests[-1], printed
    assert "report_outcome" not in requests[-1]
    assert until(
        lambda: FACT in live_with_mcp("rankings", "--project", project, "--format", "prompt")
    ), printed


@pytest.fixture
def live_with_mcp(live):
    """The trackrecord of all tests, whose agents have its MCP server meanwhile."""
    live("install", "all", "--mcp")
    yield live
    live("install", "all", "--no-mcp")
