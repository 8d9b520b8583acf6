"""The settings of the daemon and of the command line, for this process and its children."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from .agent_settings import configured, nearest_setting
from .daemon_settings import DaemonSettings
from .server_urls import with_absolute_path
from .setting_sources import CONFIG_VARIABLE, merged
from .setting_sources import ENV_PREFIX as ENV_PREFIX  # part of this module's vocabulary
from .setting_values import annotations_of, read_values, settings_of, unknown


@dataclass(frozen=True, kw_only=True)
class Settings(DaemonSettings):
    """The settings of one process; built once by `load_settings` and passed on."""

    def as_environment(self) -> dict[str, str]:
        """Return the variables that give a child process the same settings."""
        variables = {}
        for name, setting in settings_of(DaemonSettings).items():
            value = msgspec.to_builtins(getattr(self, name), enc_hook=str)
            if setting.rules is not None:
                value = {number: value[number] for number in settings_of(setting.rules)}
            if value is not None:
                is_text = isinstance(value, str)
                text = value if is_text else msgspec.json.encode(value).decode()
                variables[ENV_PREFIX + name.upper()] = text
        # A child may run in another folder or as another user: no file may move.
        if self.database_url is not None:
            variables[ENV_PREFIX + "DATABASE_URL"] = with_absolute_path(self.database_url)
        if named := os.environ.get(CONFIG_VARIABLE):
            variables[CONFIG_VARIABLE] = str(Path(named).expanduser().absolute())
        return variables


def load_settings(**given: Any) -> Settings:  # noqa: ANN401 - each setting has a type of its own
    """Build the settings, or raise an error with one line about the wrong one.

    Args:
        **given: settings that override the environment and the files.

    Raises:
        SettingsError: a setting is unknown, malformed, or does not fit with another one.
    """
    for name in given:
        if name not in annotations_of(DaemonSettings):
            raise unknown(name, nearest_setting(name))
    return Settings(**read_values(DaemonSettings, merged(configured(), given)))
