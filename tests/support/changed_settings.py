"""Settings that differ from others in some values."""

from dataclasses import replace
from typing import Any

from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.setting_values import read_values
from trackrecord.settings.settings import Settings


def changed(settings: Settings, **given: Any) -> Settings:
    """Return settings with other values, which are read as those of the environment are."""
    return replace(settings, **read_values(DaemonSettings, given))
