"""settings.md and commands.md say what the code says."""

import importlib.util
import re
import tomllib

import pytest

from tests.docs.documentation import DOCS, PAGE_NAMES, blocks, prose_of, tables, text_of
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.setting_sources import CONFIG_VARIABLE
from trackrecord.settings.setting_values import settings_of
from trackrecord.settings.settings import ENV_PREFIX, Settings, load_settings
from trackrecord_cli import main


@pytest.fixture(scope="module")
def reference():
    spec = importlib.util.spec_from_file_location("reference", DOCS / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["settings.md", "commands.md"])
def test_page_is_as_the_code_has_it(reference, page):
    """The reference part of a page is what docs/reference.py writes."""
    assert text_of(f"docs/{page}") == reference.rewritten(page), "run: python docs/reference.py"


def _documented_settings() -> dict[str, str]:
    rows = [row for table in tables(text_of("docs/settings.md")) for row in table]
    return {row[0].strip("`"): row[1] for row in rows if row[0].startswith(f"`{ENV_PREFIX}")}


def _names_in_code() -> set[str]:
    names = set()
    for name, setting in settings_of(DaemonSettings).items():
        names |= (
            {ENV_PREFIX + name.upper()}
            if setting.rules is None
            else {f"{ENV_PREFIX}{name}__{number}".upper() for number in settings_of(setting.rules)}
        )
    return names


def test_every_setting_is_documented():
    """The page has every setting, every number of the rules, and nothing besides."""
    assert set(_documented_settings()) == _names_in_code()


@pytest.mark.parametrize(("variable", "default"), _documented_settings().items())
def test_documented_defaults_are_the_defaults(variable, default, monkeypatch):
    """A setting that is set to its documented default changes nothing."""
    if not default.startswith("`"):  # unset, or described
        assert default == "unset" or "user's data folder" in default
        return
    monkeypatch.delenv(variable, raising=False)  # the tests have a port of their own
    usual = load_settings()
    monkeypatch.setenv(variable, default.strip("`"))
    assert load_settings() == usual


def test_every_variable_that_a_page_names_is_a_setting():
    """Prose and examples name no setting that is not there; the changelog also what has gone."""
    known = _names_in_code() | {CONFIG_VARIABLE}
    for name in set(PAGE_NAMES) - {"CHANGELOG.md"}:
        for variable in re.findall(rf"\b{ENV_PREFIX}[A-Z0-9_]+", text_of(name)):
            assert variable in known, f"{name} names {variable}"


def test_example_files_are_valid():
    """Each trackrecord.toml that is shown can be read."""
    shown = [block for block in blocks("toml") if block.page == "docs/settings.md"]
    assert shown
    for block in shown:
        settings = load_settings(**tomllib.loads(block.text))
        assert isinstance(settings, Settings)


def test_exit_statuses():
    """The table of exit statuses has those of the code."""
    (table,) = [
        table for table in tables(prose_of("docs/commands.md")) if table[0][0] == "exit status"
    ]
    statuses = {int(row[0]) for row in table[1:]}
    assert statuses == {0, main.NO, main.WRONG_USE, main.UNREACHABLE, main.INTERRUPTED}
