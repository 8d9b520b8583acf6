"""The MCP server in other people's configurations: registered, and taken out again."""

import json
import os
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord_capture.agents.apply_plan import install, plan_install, plan_uninstall, uninstall
from trackrecord_capture.agents.doctor import diagnose
from trackrecord_capture.agents.draft import Draft, DraftRefused, receipt_of
from trackrecord_capture.agents.known import AGENTS
from trackrecord_capture.agents.mcp_entry import (
    add_server,
    has_server,
    remove_server,
    restore_servers,
)
from trackrecord_capture.agents.runtime import mcp_path

OURS = {"type": "stdio", "command": "/home/u/track record/agents/mcp", "args": []}
THEIRS = {"type": "http", "url": "https://mcp.example.com"}

_texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
_values = st.none() | st.booleans() | st.integers() | _texts | st.lists(_texts, max_size=2)
_servers = st.dictionaries(
    _texts.filter(lambda name: name != "trackrecord"), st.just(THEIRS), max_size=2
)


@st.composite
def _state(draw):
    """Return the state that Claude Code keeps in that file, in any layout."""
    document = draw(st.dictionaries(_texts, _values, max_size=3))
    document.pop("mcpServers", None)
    if draw(st.booleans()):
        document["mcpServers"] = draw(_servers)
    text = json.dumps(document, indent=draw(st.sampled_from([None, 0, 2, "\t"])))
    return text + draw(st.sampled_from(["", "\n"]))


def _registered(text):
    draft = Draft(Path(".claude.json"), text)
    made = add_server(draft, OURS)
    return draft, receipt_of(draft, None, made)


@given(_state())
def test_a_registration_is_taken_back_to_the_byte(before):
    """Whatever else stands in the file, which stays as it is meanwhile."""
    draft, receipt = _registered(before)
    assert has_server(draft, OURS)
    held, was = json.loads(draft.text), json.loads(before)
    assert held["mcpServers"] == {**was.get("mcpServers", {}), "trackrecord": OURS}
    assert {**held, "mcpServers": 0} == {**was, "mcpServers": 0}
    assert add_server(draft, OURS) == []
    after = Draft(draft.path, draft.text)
    assert not restore_servers(after, OURS, receipt)
    assert after.text == before


@given(_state(), _texts)
def test_what_the_agent_wrote_meanwhile_stays(before, value):
    """It rewrites the file all the time, in a layout of its own."""
    draft, receipt = _registered(before)
    rewritten = {**json.loads(draft.text), "numStartups": value}
    after = Draft(draft.path, json.dumps(rewritten, indent=1))
    restore_servers(after, OURS, receipt)
    expected = {**json.loads(before), "numStartups": value}
    assert json.loads(after.text) == expected


def test_a_server_of_the_user_by_this_name_stays():
    """It is neither replaced nor removed."""
    text = json.dumps({"mcpServers": {"trackrecord": THEIRS}})
    draft = Draft(Path(".claude.json"), text)
    with pytest.raises(DraftRefused, match="yours, which stays"):
        add_server(draft, OURS)
    remove_server(draft, OURS, ())
    assert draft.text == text


@pytest.mark.parametrize("text", ["", "{", "[]", '{"mcpServers": 1}'])
def test_a_file_that_is_not_what_it_should_be_is_left_alone(text):
    """With a line that says so."""
    with pytest.raises(DraftRefused, match="left alone"):
        add_server(Draft(Path(".claude.json"), text), OURS)


@pytest.fixture
def user(user):
    """The home of that user, with servers of other makers."""
    (user / ".claude.json").write_text('{"numStartups": 3, "mcpServers": {}}')
    (user / ".codex" / "config.toml").write_text('[mcp_servers.x]\nurl = "u"\n')
    return user


def _files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _install_all(home, **wanted):
    for agent in AGENTS.values():
        install(agent, home, plan_install(agent, home, **wanted))


def test_all_agents_there_and_back(user, home):
    """Each names the server in its own way; without being asked for, none does."""
    before = _files(user)
    _install_all(home)
    assert (user / ".claude.json").read_bytes() == before[user / ".claude.json"]
    assert not any(agent.has_mcp(home) for agent in AGENTS.values())
    _install_all(home, mcp=True)
    _install_all(home)
    assert all(agent.is_installed(home) and agent.has_mcp(home) for agent in AGENTS.values())
    assert all(each.has_mcp for each in diagnose(home, 4318).agents)
    server = str(mcp_path(home))
    servers = json.loads((user / ".claude.json").read_text())["mcpServers"]
    assert servers["trackrecord"]["command"] == server
    codex = tomllib.loads((user / ".codex" / "config.toml").read_text())
    assert codex["mcp_servers"] == {"x": {"url": "u"}, "trackrecord": {"command": server}}
    for agent in AGENTS.values():
        uninstall(agent, home, plan_uninstall(agent, home))
    assert _files(user) == before
    assert not mcp_path(home).exists()


def test_a_server_that_went_missing_is_registered_again(user, home):
    """An agent's configuration may be restored from a backup; doctor says what to do."""
    _install_all(home, mcp=True)
    (user / ".claude.json").unlink()
    claude = AGENTS["claude-code"]
    assert not claude.is_installed(home)
    checkup = next(each for each in diagnose(home, 4318).agents if each.agent == claude.name)
    assert "run `trackrecord install claude-code`" in checkup.advice
    install(claude, home, plan_install(claude, home))
    assert claude.is_installed(home)


def test_a_server_of_the_user_keeps_codex_from_ours(user, home):
    """The rest is installed all the same, and a note says so."""
    config = user / ".codex" / "config.toml"
    config.write_text('[mcp_servers.trackrecord]\nurl = "http://127.0.0.1:4318/mcp"\n')
    plan = plan_install(AGENTS["codex"], home, mcp=True)
    assert any("MCP server 'trackrecord' of yours" in note for note in plan.notes)
    install(AGENTS["codex"], home, plan)
    assert "agents/mcp" not in config.read_text()


def test_what_agents_start_is_a_server(user, home, tmp_path):
    """By a path that stays, whatever folder the agent works in and what modules lie in it."""
    _install_all(home, mcp=True)
    server, folder = mcp_path(home), tmp_path / "work"
    assert stat.S_IMODE(server.stat().st_mode) == 0o700
    folder.mkdir()
    (folder / "mcp.py").write_text("raise SystemExit('a module of the folder was imported')")
    ran = subprocess.run(
        [server], cwd=folder, env=os.environ, stdin=subprocess.DEVNULL, capture_output=True,
        check=False, timeout=200,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


@pytest.mark.parametrize("name", ["gemini-cli", "qwen-code"])
@pytest.mark.parametrize("before", ["", '{"theme": "dark"}\n', '{\n  "mcpServers": {}\n}'])
@pytest.mark.parametrize("edited", [False, True])
def test_hooks_and_servers_in_one_file(user, home, monkeypatch, name, before, edited):
    """Both are added, each can be taken out alone, and the file is as it was in the end."""
    monkeypatch.setenv("HOME", str(user))
    agent = AGENTS[name]
    path = agent.folder() / "settings.json"
    path.parent.mkdir()
    if before:
        path.write_text(before)
    for mcp in (False, True, False, True):
        install(agent, home, plan_install(agent, home, mcp=mcp))
        assert agent.is_installed(home)
        assert agent.has_mcp(home) is mcp
        held = json.loads(path.read_text())
        assert ("trackrecord" in held.get("mcpServers", {})) is mcp
        assert not plan_install(agent, home).changes
    # In milliseconds, and waited for: neither knows hooks in the background.
    hook = held["hooks"][agent.events.get("UserPromptSubmit", "UserPromptSubmit")][0]["hooks"][0]
    assert hook["timeout"] == 2000
    assert not any(
        each["hooks"][0].get("async") for group in held["hooks"].values() for each in group
    )
    if edited:
        path.write_text(json.dumps({**held, "added": 1}))
    uninstall(agent, home, plan_uninstall(agent, home))
    assert not agent.is_installed(home)
    if edited:
        left = {**json.loads(before or "{}"), "added": 1}
        assert json.loads(path.read_text()) | {"mcpServers": {}} == left | {"mcpServers": {}}
    else:
        assert (path.read_text() if path.exists() else "") == before
