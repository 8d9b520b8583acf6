"""The server that coding agents start: it asks the front door, or is one where that is away."""

import signal
import socket
import sys
from contextlib import closing

import psutil
import pytest

from tests.mcp_server.mcp_served import started
from trackrecord_capture.agents.runtime import mcp_path, write_runtime


def greet(server):
    assert {tool["name"] for tool in server.greet()} == {"recall", "remember"}


def is_proxy(server):
    return "trackrecord_cli" not in psutil.Process(server.process.pid).cmdline()


def of_agents(home):
    write_runtime(home)
    return [str(mcp_path(home))]


def test_the_front_door_answers(served, tmp_path):
    """Of the project of the folder, as the hooks name it; little is started for that."""
    with started(of_agents(served.home), tmp_path / "till-of-the-proxy") as ours:
        greet(ours)
        assert is_proxy(ours)
        assert "till-of-the-proxy" in ours.call("remember", text="The till beeps")[0]
        whole = [sys.executable, "-m", "trackrecord_cli", "mcp"]
        with started(whole, tmp_path, TRACKRECORD_HOME=str(served.home)) as other:
            other.greet()
            assert ours.processor_s() < other.processor_s() / 3


def test_only_the_socket_in_the_home_names_folders(served):
    """Over the network a folder would say what repositories this machine has."""
    import httpx

    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    asked["params"] = {"name": "remember", "arguments": {"text": "The till beeps twice"}}
    headers = {"accept": "application/json, text/event-stream"}
    address = f"{served.url}/mcp?project=till&folder=/src/elsewhere"
    answer = httpx.post(address, json=asked, headers=headers, timeout=120).json()
    text = answer["result"]["content"][0]["text"]
    assert "till" in text
    assert "elsewhere" not in text


@pytest.mark.parametrize("hangs", [False, True])
def test_without_a_front_door_it_is_a_server_itself(tmp_path, hangs):
    """Also if one takes connections and never answers: an agent waits for its tools."""
    home = tmp_path / "home"
    command = of_agents(home)
    with closing(socket.socket(socket.AF_UNIX)) as door:
        if hangs:
            door.bind(str(home / "http.sock"))
            door.listen()
        with started(command, tmp_path / "till") as server:
            greet(server)
            assert not is_proxy(server)
            assert "spool" in server.call("remember", text="The till beeps")[0]
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(200) == 0


def test_a_front_door_that_goes_away_is_an_error_of_the_tool(served, tmp_path):
    """The agent is told to go on without it, and the next call is answered when it is back."""
    home = tmp_path / "home"
    command = of_agents(home)
    link = home / "http.sock"
    link.symlink_to(served.home / "http.sock")
    with started(command, tmp_path / "till") as server:
        greet(server)
        link.unlink()
        said, is_error = server.call("recall", task="Mend it")
        assert is_error
        assert "go on without it" in said
        assert "error" in server.ask("tools/list")
        link.symlink_to(served.home / "http.sock")
        assert not server.call("recall", task="Mend it")[1]
