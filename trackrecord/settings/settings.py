"""The settings of the daemon and of the command line, as a pydantic model.

Names, bounds and descriptions are declared in `agent_settings` and `daemon_settings`; agents read
the same declaration without pydantic.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from .agent_settings import configured, default_home, nearest_setting
from .daemon_settings import DaemonSettings
from .server_urls import with_absolute_path
from .setting_sources import CONFIG_VARIABLE
from .setting_sources import ENV_PREFIX as ENV_PREFIX  # part of this module's vocabulary
from .setting_values import annotations_of, read_values, settings_of, unknown

_SECRET = frozenset({"redis_url", "broker_url", "database_url"})


class _Configured(PydanticBaseSettingsSource):
    """The settings from the environment and the files, read as agents read them."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 - the signature is pydantic's
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        return configured()


class Settings(BaseSettings, DaemonSettings, frozen=True):  # type: ignore[misc] # BaseSettings is not frozen by itself, which pydantic allows
    """The settings of one process; built once and passed on."""

    model_config = SettingsConfigDict(extra="forbid")

    # A dataclass keeps no default that is made by a function where pydantic looks for it.
    home: Path = Field(default_factory=default_home)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use explicit arguments first, then the environment, then the files."""
        return init_settings, _Configured(settings_cls)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name in given:
            if name not in annotations_of(DaemonSettings):
                raise unknown(name, nearest_setting(name))
        return read_values(DaemonSettings, given)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            if name not in _SECRET:
                yield name, value

    def as_environment(self) -> dict[str, str]:
        """Return the variables that give a child process the same settings."""
        variables = {}
        given = self.model_dump(mode="json", exclude_unset=True)
        for name, setting in settings_of(DaemonSettings).items():
            value = given.get(name)
            if setting.rules is not None and value is not None:
                value = {number: value[number] for number in settings_of(setting.rules)}
            if value is not None:
                text = json.dumps(value) if isinstance(value, (dict, list)) else str(value)
                variables[ENV_PREFIX + name.upper()] = text
        # A child may run in another folder or as another user: no file may move.
        variables[ENV_PREFIX + "HOME"] = str(self.home)
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
    return Settings(**given)
