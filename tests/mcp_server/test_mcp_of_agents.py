"""The server that coding agents start: it asks the front door, or is one where that is away."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager

import psutil
import pytest

from trackrecord_capture.agents.runtime import mcp_path, write_runtime

_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "tester", "version": "1"},
}


class Server:
    """A server that an agent started in a folder, spoken to line by line."""

    def __init__(self, command, folder, **variables):
        folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._asked = 0

    def send(self, method, **more):
        told = {"jsonrpc": "2.0", "method": method, **more}
        self.process.stdin.write(json.dumps(told).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self._asked += 1
        self.send(method, id=self._asked, params=params)
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == self._asked
        return answer

    def greet(self):
        hello = self.ask("initialize", **_HELLO)["result"]
        self.send("notifications/initialized")
        tools = self.ask("tools/list")["result"]["tools"]
        assert hello["serverInfo"]["name"] == "trackrecord"
        assert "what earlier runs of agents in this project have shown" in hello["instructions"]
        assert {tool["name"] for tool in tools} == {"recall", "remember"}

    def processor_s(self):
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system

    def is_proxy(self):
        return "trackrecord_cli" not in psutil.Process(self.process.pid).cmdline()


@contextmanager
def started(command, folder, **variables):
    server = Server(command, folder, **variables)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.communicate()


def of_agents(home):
    write_runtime(home)
    return [str(mcp_path(home))]


def test_the_front_door_answers(served, tmp_path):
    """Of the project of the folder, as the hooks name it; little is started for that."""
    with started(of_agents(served.home), tmp_path / "till-of-the-proxy") as ours:
        ours.greet()
        assert ours.is_proxy()
        said = ours.ask("tools/call", name="remember", arguments={"text": "The till beeps"})
        assert "till-of-the-proxy" in said["result"]["content"][0]["text"]
        whole = [sys.executable, "-m", "trackrecord_cli", "mcp"]
        with started(whole, tmp_path, TRACKRECORD_HOME=str(served.home)) as other:
            other.ask("initialize", **_HELLO)
            other.send("notifications/initialized")
            other.ask("tools/list")
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
            server.greet()
            assert not server.is_proxy()
            said = server.ask("tools/call", name="remember", arguments={"text": "The till beeps"})
            assert "spool" in said["result"]["content"][0]["text"]
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(200) == 0


def test_a_front_door_that_goes_away_is_an_error_of_the_tool(served, tmp_path):
    """The agent is told to go on without it, and the next call is answered when it is back."""
    home = tmp_path / "home"
    command = of_agents(home)
    link = home / "http.sock"
    link.symlink_to(served.home / "http.sock")
    with started(command, tmp_path / "till") as server:
        server.greet()
        link.unlink()
        away = server.ask("tools/call", name="recall", arguments={"task": "Mend it"})["result"]
        assert away["isError"] is True
        assert "go on without it" in away["content"][0]["text"]
        assert "error" in server.ask("tools/list")
        link.symlink_to(served.home / "http.sock")
        back = server.ask("tools/call", name="recall", arguments={"task": "Mend it"})["result"]
        assert not back["isError"]


def test_what_is_no_message_is_not_answered(tmp_path):
    """And the end of stdin is the end: nothing is printed, and nothing is left running."""
    command = of_agents(tmp_path / "home")
    done = subprocess.run(command, input=b"\n \n", capture_output=True, timeout=200, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
