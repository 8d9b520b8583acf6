"""Start Python for trackrecord such that nothing is imported from the working folder."""

import sys
from typing import Final

# Python's -m puts the working folder in front of `sys.path`, where a repository's `celery.py` or
# `json.py` would be imported in place of the real one. With -P (from Python 3.11 on) it does not.
_PYTHON: Final = ("-P", "-m")


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs an installed module in a new process, in any working folder."""
    return [sys.executable, *_PYTHON, module, *arguments]


def module_arguments(command: list[str]) -> list[str]:
    """Return the module of a `python_command`, and the arguments for it."""
    return command[1 + len(_PYTHON) :]
