"""Agents and the daemon read one declaration: equal values, and the same line when one is wrong."""

import os
import subprocess
import sys
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.errors import SettingsError
from trackrecord.settings.agent_settings import (
    DAEMONS_OWN,
    DAEMONS_SERVICES,
    AgentSettings,
    load_agent_settings,
)
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.setting_sources import ENV_PREFIX
from trackrecord.settings.setting_values import settings_of
from trackrecord.settings.settings import Settings, load_settings

PLAIN = [name for name, one in settings_of(DaemonSettings).items() if one.rules is None]
NUMBERS = [
    f"{name}__{number}"
    for name, one in settings_of(DaemonSettings).items()
    if one.rules is not None
    for number in settings_of(one.rules)
]
SECTIONS = [name for name, one in settings_of(DaemonSettings).items() if one.rules is not None]
_names = st.sampled_from(PLAIN) | st.sampled_from(NUMBERS) | st.sampled_from(SECTIONS)
_texts = (
    st.sampled_from(
        [
            *("", "1", "0", "0.5", "-1", "5.0", " 7 ", "1e3", "nan", "inf", "true", "TRUE", "yes"),
            *("null", "{}", "[]", "[1]", '["a"]', '{"fast_ms": 1}', '{"strikes": 3}', "linear"),
            *("redis://127.0.0.1:1/0", "redis://[", "sqlite:///x", "/x", "~", "~nobody-here/x"),
            *("9" * 400, "[" * 2000, '{"a":' * 2000, "a/../b", "é", "UTC"),
        ]
    )
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
    | st.integers().map(str)
    | st.floats().map(str)
)


def _outcome(load) -> Settings | AgentSettings | str:
    try:
        return load()
    except SettingsError as error:
        return str(error)


@given(
    variables=st.dictionaries(_names, _texts, max_size=4),
    unknown=st.sampled_from(["", "x", "y__z"]),
)
def test_both_read_alike(variables, unknown):
    """For any environment; only what the daemon alone uses may be refused by the daemon alone."""
    with pytest.MonkeyPatch.context() as patch:
        for name, text in variables.items():
            patch.setenv(ENV_PREFIX + name.upper(), text)
        if unknown:
            patch.setenv(ENV_PREFIX + unknown.upper(), "1")
        _check_alike()


def _check_alike() -> None:
    agent, daemon = _outcome(load_agent_settings), _outcome(load_settings)
    assert "\n" not in str(agent)
    assert "\n" not in str(daemon)
    if isinstance(agent, str):
        assert daemon == agent
    elif isinstance(daemon, str):
        assert not any(f"setting {name}" in daemon for name in settings_of(AgentSettings))
    else:
        for field in fields(AgentSettings):
            assert getattr(agent, field.name) == getattr(daemon, field.name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NO_SUCH", None),
        ("NO_SUCH__NUMBER", None),
        ("ERRORS__NO_SUCH", None),
        ("PROJECT__X", "PROJECT"),
        ("HTTP_PORT", "HTTP__PORT"),
        ("REDS_URL", "REDIS_URL"),
    ],
)
def test_an_unknown_variable_is_refused_by_both(name, meant, monkeypatch):
    """The line names it, and the one that was probably meant."""
    monkeypatch.setenv(ENV_PREFIX + name, "1")
    hint = 'the page "Settings" of the docs has them all'
    if meant is not None:
        hint = f"did you mean {ENV_PREFIX}{meant}?"
    line = f"unknown setting {ENV_PREFIX}{name}; {hint}"
    assert _outcome(load_agent_settings) == _outcome(load_settings) == line


def test_an_agent_knows_the_names_of_the_daemons_settings():
    """Its list of them is that of the declaration: each that is no section of rules."""
    agents = {each.name for each in fields(AgentSettings)}
    declared = {
        each.name
        for each in fields(DaemonSettings)
        if each.name not in agents
        and not is_dataclass(each.default)
        and each.name in settings_of(DaemonSettings)
    }
    assert declared == DAEMONS_OWN
    sections = settings_of(DaemonSettings)
    for name, numbers in DAEMONS_SERVICES.items():
        assert numbers == set(settings_of(sections[name].rules))


def test_an_agents_process_does_without_the_daemons_libraries(home, client):
    """Reading rankings and asking for errors import neither pydantic nor what the daemon needs."""
    code = (
        "import sys, trackrecord\n"
        "assert trackrecord.rankings().problem == 'nothing is learnt yet'\n"
        "trackrecord.context(task='t')\n"
        "trackrecord.error_context('t')\n"
        "trackrecord.summarise('x' * 20_000)\n"
        "trackrecord.summarised(len)\n"
        "heavy = {'pydantic', 'pydantic_settings', 'sqlalchemy', 'celery', 'structlog', 'click'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TRACKRECORD_HOME": str(home)},
    )
    assert done.stdout == "[]\n"


def test_a_child_process_gets_the_same(monkeypatch, home):
    """Through the variables that the daemon hands on."""
    given_settings = load_settings(
        home=home,
        redis_url="redis://127.0.0.1:1/0",
        scoring={"fast_ms": 5},
        trusted_folders=("/srv",),
        criteria={"defaults": ("kind",)},
    )
    for name, text in given_settings.as_environment().items():
        monkeypatch.setenv(name, text)
    assert load_settings() == given_settings


def test_secrets_are_not_shown():
    """Neither form of the settings repeats the URLs of servers."""
    url = "redis://:sekret@127.0.0.1:1/0"
    database = "postgresql://me:sekret@127.0.0.1/db"
    assert "sekret" not in repr(load_agent_settings(redis_url=url))
    assert "sekret" not in repr(load_settings(redis_url=url, database_url=database))
    key = {"api_key": "sekret"}
    assert "sekret" not in repr(load_settings(embeddings=key))
