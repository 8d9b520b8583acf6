"""Every setting of a landed state may still be there: what has gone is named, and stops nothing."""

import json
from pathlib import Path

import pytest

from tests.landed.states import STATES
from tests.worker.test_up import Up
from tests.worker.working import until
from trackrecord.settings.agent_settings import gone_remark, load_agent_settings
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.gone_settings import is_gone
from trackrecord.settings.setting_sources import ENV_PREFIX
from trackrecord.settings.setting_values import settings_of
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_cli.main import run

_MOST = 140


def _parts(variable: str) -> tuple[str, str]:
    name, _, number = variable.removeprefix(ENV_PREFIX).lower().partition("__")
    return name, number


@pytest.fixture(params=STATES, ids=lambda state: state.name)
def then(request, home) -> dict[str, str]:
    """The variables of every setting of a landed state, with its defaults."""
    text = (Path(__file__).parent / request.param.name / "settings.json").read_text()
    found: dict[str, str] = json.loads(text)
    return found | {"TRACKRECORD_HOME": str(home), "TRACKRECORD_HTTP__PORT": "0"}


@pytest.fixture
def gone(then) -> list[str]:
    """The names of the ones that have gone, of which a value was written."""
    gone = [each for each in map(_parts, filter(then.get, then)) if is_gone(*each)]
    return [".".join(filter(None, each)) for each in gone]


@pytest.fixture(params=["environment", "file"])
def written(request, then, tmp_path, monkeypatch) -> None:
    """Each of them is in the environment, or in the user's file."""
    if request.param == "environment":
        for variable, text in then.items():
            monkeypatch.setenv(variable, text)
        return
    file = tmp_path / "trackrecord.toml"
    plain, sections = [], {}
    for variable, text in then.items():
        name, number = _parts(variable)
        line = f"{number or name} = {_toml(text)}"
        if text:
            (sections.setdefault(name, []) if number else plain).append(line)
    for name, lines in sections.items():
        plain += [f"[{name}]", *lines]
    file.write_text("\n".join(plain), encoding="utf-8")
    monkeypatch.setenv("TRACKRECORD_CONFIG", str(file))
    # The tests have settings of their own.
    for variable in ("TRACKRECORD_HTTP__PORT", "TRACKRECORD_HOME"):
        monkeypatch.setenv(variable, then[variable])


def _toml(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    # "true" is one of three words, too.
    return json.dumps(text if isinstance(value, bool) else value, ensure_ascii=False)


def assert_named(line: str, gone: list[str]) -> None:
    """One line names each of them."""
    assert [name for name in gone if name not in line] == []


@pytest.mark.usefixtures("written")
def test_they_are_read(then, gone, home):
    """By agents and by the daemon; what is left has the values of then."""
    assert load_agent_settings().home == load_settings().home == home
    assert_named(gone_remark() or "", gone)
    assert len(gone) >= 60
    for variable in then:
        name, number = _parts(variable)
        known = settings_of(DaemonSettings).get(name)
        is_there = known is not None and (
            not number or number in settings_of(known.rules or type(None))
        )
        assert is_there != is_gone(name, number), variable


@pytest.mark.faults
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("written")
def test_up_starts(home, gone):
    """And says in one line which of them have gone."""
    # Nothing but its home is handed on: the rest comes from where it is written.
    up = Up(Settings.model_construct(home=home))
    try:
        up.until_up()
        until(lambda: "CHANGELOG.md" in up.said)
        (line,) = (line for line in up.said.splitlines() if "CHANGELOG.md" in line)
        assert_named(line, gone)
    finally:
        up.end()


@pytest.mark.usefixtures("written")
def test_doctor_says_so_too(gone, capfd):
    """As a note."""
    run(["doctor", "--json"])
    (note,) = json.loads(capfd.readouterr().out)["notes"]
    assert_named(note, gone)


def test_what_is_left_of_a_section_counts(monkeypatch, home):
    """Where the whole section is one JSON object."""
    monkeypatch.setenv("TRACKRECORD_MEMORIES", '{"max_ranked": 3, "confidence": 0.6}')
    for load in (load_agent_settings, load_settings):
        assert load(home=home).memories.confidence == 0.6
    assert gone_remark() == (
        "settings that have gone and change nothing: memories.max_ranked; CHANGELOG.md tells more"
    )


def test_few_settings():
    """A person reads them all before choosing one: a new one takes the place of another."""
    declared = settings_of(DaemonSettings).values()
    numbers = [1 if each.rules is None else len(settings_of(each.rules)) for each in declared]
    assert sum(numbers) <= _MOST
