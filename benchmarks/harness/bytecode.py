"""Processes of a benchmark that load bytecode, as those of an installed package do.

A process that compiles while it imports takes longer, and more memory.
"""

import os

from trackrecord.settings.settings import Settings


def environment_with_bytecode(settings: Settings) -> dict[str, str]:
    """Return an environment in which the first process leaves bytecode for all later ones."""
    environment = {
        **os.environ,
        **settings.as_environment(),
        "PYTHONPYCACHEPREFIX": str(settings.home / "bytecode"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment
