"""Installing into other people's configurations, and out of them again."""

import json
import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord_capture.agents.apply_plan import install, plan_install, plan_uninstall, uninstall
from trackrecord_capture.agents.draft import Draft, DraftRefused, read_text, receipt_of
from trackrecord_capture.agents.hook_entries import (
    add_entries,
    has_entries,
    remove_entries,
    restore,
)
from trackrecord_capture.agents.installed import read_installed
from trackrecord_capture.agents.known import AGENTS
from trackrecord_capture.agents.replacing import replace_file
from trackrecord_capture.agents.runtime import hook_prefix, wrapper_path
from trackrecord_capture.sources.codex.installation import add_lines, remove_lines
from trackrecord_door.access.tokens import reporting_token, with_own_token

HOME = Path("/home/u/track record")
PREFIX = hook_prefix(HOME)
CLAUDE = AGENTS["claude-code"]

_texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_others = st.fixed_dictionaries({"type": st.just("command"), "command": _texts})
_group = st.fixed_dictionaries(
    {"hooks": st.lists(_others, max_size=2)}, optional={"matcher": _texts}
)
_hooks = st.dictionaries(
    st.sampled_from(["Stop", "SessionStart", "PreToolUse", "UserPromptSubmit"]),
    st.lists(_group, max_size=2),
    max_size=3,
)
_documents = st.builds(
    lambda others, hooks, has_hooks: others | ({"hooks": hooks} if has_hooks else {}),
    st.dictionaries(_texts.filter(lambda name: name != "hooks"), _values, max_size=3),
    _hooks,
    st.booleans(),
)
_layouts = st.sampled_from([None, 0, 2, 4, "\t"])


@st.composite
def _configurations(draw):
    """A user's settings, in the layout of one tool or another."""
    document, indent = draw(_documents), draw(_layouts)
    text = json.dumps(document, indent=indent, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n", "\n\n"]))


def _parsed(text):
    return json.loads(text.removeprefix("\ufeff"))


def _installed(text):
    draft = Draft(Path("settings.json"), text)
    made = add_entries(draft, CLAUDE.wanted(HOME), PREFIX)
    return draft, receipt_of(draft, None, made)


@given(_configurations())
def test_an_installation_is_taken_back_to_the_byte(before):
    """Whatever the user's settings and their layout are."""
    draft, receipt = _installed(before)
    assert has_entries(draft, CLAUDE.wanted(HOME), PREFIX)
    after = Draft(draft.path, draft.text)
    assert not restore(after, receipt, PREFIX)
    assert after.text == before


@given(_configurations())
def test_what_the_user_has_stays_in_place(before):
    """An installation adds: each of the user's own groups is where it was."""
    draft, _ = _installed(before)
    old, new = _parsed(before), _parsed(draft.text)
    assert {name: value for name, value in new.items() if name != "hooks"} == {
        name: value for name, value in old.items() if name != "hooks"
    }
    for event, groups in old.get("hooks", {}).items():
        assert new["hooks"][event][: len(groups)] == groups


@given(_configurations())
def test_installed_twice_is_installed_once(before):
    """The second time changes nothing."""
    draft, _ = _installed(before)
    again = Draft(draft.path, draft.text)
    assert add_entries(again, CLAUDE.wanted(HOME), PREFIX) == []
    assert not again.is_changed


@given(_configurations(), _others, _texts, st.booleans())
def test_edits_of_the_user_outlive_a_removal(before, hook, value, is_inside):
    """A hook added beside ours, and any other setting, stay; ours go."""
    draft, receipt = _installed(before)
    edited = _parsed(draft.text)
    edited["added"] = value
    if is_inside:
        edited["hooks"]["Stop"][-1]["hooks"].insert(0, hook)
    after = Draft(draft.path, json.dumps(edited, indent=3))
    restore(after, receipt, PREFIX)
    expected = _parsed(before) | {"added": value}
    if is_inside:
        hooks = expected.setdefault("hooks", {})
        hooks.setdefault("Stop", []).append({"hooks": [hook]})
    assert _parsed(after.text) == expected


@given(_configurations())
def test_a_lost_record_costs_no_more_than_empty_lists(before):
    """Without the record of an installation, our hooks are found by their command."""
    draft, _ = _installed(before)
    after = Draft(draft.path, draft.text)
    restore(after, None, PREFIX)
    kept = {event: groups for event, groups in _parsed(before).get("hooks", {}).items() if groups}
    found = _parsed(after.text).get("hooks", {})
    assert {event: groups for event, groups in found.items() if groups} == kept


def test_an_older_entry_of_ours_is_replaced():
    """An upgrade that changes a time limit leaves one group of ours for each event."""
    draft = Draft(Path("settings.json"), '{"hooks": {"Stop": []}}')
    old = {"Stop": {"hooks": [{"type": "command", "command": f"{PREFIX}claude-code"}]}}
    add_entries(draft, old, PREFIX)
    add_entries(draft, CLAUDE.wanted(HOME), PREFIX)
    assert has_entries(draft, CLAUDE.wanted(HOME), PREFIX)
    remove_entries(draft, PREFIX, ["hooks"])
    assert _parsed(draft.text)["hooks"]["Stop"] == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hooks": 1}', '{"hooks": {"Stop": {}}}', "{]}"])
def test_settings_that_are_not_what_they_should_be_are_left_alone(text):
    """One line says which file, and that it is left alone."""
    with pytest.raises(DraftRefused, match=r"settings\.json .*left alone"):
        _installed(text)


def test_a_pipe_in_the_place_of_settings_is_left_alone(tmp_path):
    """It would be waited for."""
    os.mkfifo(tmp_path / "settings.json")
    with pytest.raises(DraftRefused, match="not a regular file: left alone"):
        read_text(tmp_path / "settings.json")


_toml_lines = st.sampled_from(
    [
        "# a comment", "", 'model = "o"', "[a]", 'text = """', '"""', "x = 1", "  y = [1,", "2]",
        "é = 1",
    ]
)  # fmt: skip


@given(st.lists(_toml_lines, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_lines_in_a_toml_file_are_taken_back_to_the_byte(lines, newline, ends):
    """By their marks, too, without a record."""
    before = newline.join(lines) + (newline if ends else "")
    draft = Draft(Path("config.toml"), before)
    try:
        held = tomllib.loads(before)
    except tomllib.TOMLDecodeError:
        with pytest.raises(DraftRefused, match=r"config\.toml is not valid TOML"):
            add_lines(draft, ['notify = ["/x/hook"]'])
        return
    add_lines(draft, ['notify = ["/x/hook"]'])
    assert tomllib.loads(draft.text) == held | {"notify": ["/x/hook"]}
    remove_lines(draft, re.compile(r'notify = \["/x/hook"\]'))
    assert draft.text == before


def _files(folder):
    """Every file and folder of a user, with its content and its mode."""
    return {
        str(path.relative_to(folder)): (
            path.is_symlink(),
            stat.S_IMODE(path.stat().st_mode),
            path.read_bytes() if path.is_file() else None,
        )
        for path in folder.rglob("*")
    }


def _install_all(home, **asked):
    for agent in AGENTS.values():
        install(agent, home, plan_install(agent, home, **asked))


def _uninstall_all(home):
    for agent in AGENTS.values():
        uninstall(agent, home, plan_uninstall(agent, home))


def test_all_agents_there_and_back(user, home):
    """Files, folders, modes and links of a user are as before, and nothing is left of ours."""
    (user / "dotfiles").mkdir()
    (user / "dotfiles" / "claude.json").write_text('{"model": "x",\n "env": {"KEY": "s"}}')
    (user / "dotfiles" / "claude.json").chmod(0o640)
    (user / ".claude" / "settings.json").symlink_to(user / "dotfiles" / "claude.json")
    (user / ".codex" / "config.toml").write_text(
        '# mine\nmodel = "o"\n\n[mcp_servers.x]\nurl = "u"'
    )
    before = _files(user)
    _install_all(home)
    _install_all(home)
    assert all(agent.is_installed(home) for agent in AGENTS.values())
    assert (user / ".claude" / "settings.json").is_symlink()
    assert not any(plan_install(agent, home).changes for agent in AGENTS.values())
    _install_all(home, reminds=True)
    _install_all(home)
    hooks = json.loads((user / ".claude" / "settings.json").read_text())["hooks"]
    (reminding,) = hooks["Stop"][0]["hooks"]
    assert "claude-code remind" in reminding["command"]
    assert not reminding.get("async")
    assert "codex remind" in (user / ".codex" / "hooks.json").read_text()
    assert all(agent.is_installed(home) for agent in AGENTS.values())
    reminded = [name for name, each in read_installed(home).items() if each.reminds]
    assert sorted(reminded) == ["claude-code", "codex"]
    _uninstall_all(home)
    assert _files(user) == before
    assert not wrapper_path(home).exists()


def test_no_configuration_holds_a_secret_or_a_port(user, home):
    """People share these files, and on a port anybody can listen."""
    token = with_own_token(DaemonSettings(home=home)).http.token
    _install_all(home)
    texts = [path.read_text() for path in user.rglob("*") if path.is_file()]
    assert sum(str(home) in text for text in texts) >= len(AGENTS)
    for secret in (token, reporting_token(token), "4318", "http://"):
        assert not [text for text in texts if secret in text]


def test_a_notify_program_of_the_user_stays(user, home):
    """It is not replaced; the end of a turn is noted by a hook instead, and a note says so."""
    config = user / ".codex" / "config.toml"
    config.write_text('notify = ["mine"]\n')
    codex = AGENTS["codex"]
    plan = plan_install(codex, home)
    assert [change.path.name for change in plan.changes] == ["hooks.json"]
    assert "Stop" in json.loads(plan.changes[0].after)["hooks"]
    assert any("notify program of yours" in note for note in plan.notes)


def test_lines_that_the_user_added_to_our_block_stay(user, home):
    """Only our own lines go, wherever they were moved to."""
    codex = AGENTS["codex"]
    install(codex, home, plan_install(codex, home))
    config = user / ".codex" / "config.toml"
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join([lines[2], 'model = "o"\n', *lines[:2], "# mine\n", *lines[3:]]))
    uninstall(codex, home, plan_uninstall(codex, home))
    assert config.read_text() == 'model = "o"\n# mine\n'


def test_codex_trust_is_read_from_its_configuration(user, home):
    """New hooks are untrusted, which is said with what to do; trusted ones are not mentioned."""
    codex = AGENTS["codex"]
    plan = plan_install(codex, home)
    assert any("/hooks" in note for note in plan.notes)
    install(codex, home, plan)
    assert any("/hooks" in line for line in codex.problems(home))
    hooks = user / ".codex" / "hooks.json"
    with (user / ".codex" / "config.toml").open("a") as file:
        for event in ("session_start", "user_prompt_submit", "interrupt", "post_tool_use"):
            file.write(f'[hooks.state."{hooks}:{event}:0:0"]\ntrusted_hash = "sha256:1"\n')
    assert codex.problems(home) == []


def test_a_plugin_that_was_edited_is_left_alone(user, home):
    """It is the user's by then; one line says so."""
    opencode = AGENTS["opencode"]
    install(opencode, home, plan_install(opencode, home))
    path = user / ".config" / "opencode" / "plugins" / "trackrecord.js"
    path.write_text(path.read_text() + "// mine\n")
    plan = plan_uninstall(opencode, home)
    assert not plan.changes
    assert "edited" in plan.notes[0]


def test_a_file_that_changed_since_the_plan_is_left_alone(user, home):
    """What another program wrote in between is not lost."""
    claude = AGENTS["claude-code"]
    plan = plan_install(claude, home)
    path = user / ".claude" / "settings.json"
    path.write_text('{"model": "new"}')
    with pytest.raises(DraftRefused, match="changed just now"):
        install(claude, home, plan)
    assert path.read_text() == '{"model": "new"}'


def test_settings_follow_the_variables_of_the_agents(user, home, monkeypatch):
    """CLAUDE_CONFIG_DIR and CODEX_HOME say where an agent's configuration is."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(user / "elsewhere"))
    monkeypatch.setenv("CODEX_HOME", str(user / "codex"))
    _install_all(home)
    assert (user / "elsewhere" / "settings.json").exists()
    assert (user / "codex" / "hooks.json").exists()
    assert not (user / ".claude" / "settings.json").exists()
    # The record knows where it was installed, without the variable.
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.delenv("CODEX_HOME")
    _uninstall_all(home)
    assert not (user / "elsewhere").exists()
    assert not (user / "codex").exists()


_DIES_WHILE_WRITING = """
import os, sys
from pathlib import Path
from trackrecord_capture.agents import replacing
os.fsync = lambda _: os.kill(os.getpid(), 9)
replacing.replace_file(Path(sys.argv[1]), b"new" * 100_000)
"""


@pytest.mark.faults
def test_a_process_that_dies_while_it_writes_leaves_the_old_file(tmp_path):
    """A reader never sees half a file."""
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    died = subprocess.run([sys.executable, "-c", _DIES_WHILE_WRITING, str(path)], check=False)
    assert died.returncode < 0
    assert path.read_bytes() == b"old"


def test_a_file_that_cannot_be_replaced_is_named(tmp_path):
    """A full disk is told without a name by the system, other failures with that of a copy."""
    with pytest.raises(OSError, match="settings") as told:
        replace_file(tmp_path / "gone" / "settings.json", b"new")
    assert told.value.filename == str(tmp_path / "gone" / "settings.json")


def test_a_replaced_file_keeps_its_mode(tmp_path):
    """A new one is its owner's alone."""
    path = tmp_path / "settings.json"
    replace_file(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    replace_file(path, b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]
