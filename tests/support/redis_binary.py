"""The Redis server that the tests run, for a machine that has several.

Like the product, the tests take the newest of `redis-server` and `valkey-server` on the PATH and
those in packages of Python. TESTS_REDIS overrules that: such a package's name, or a binary's path.
`tests/conftest.py` loads this as a plugin.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from trackrecord.errors import ServerUnavailable
from trackrecord_worker.up.server_binary import PACKAGES, find_servers, in_package

CHOICE = "TESTS_REDIS"

_folder = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Put the chosen server in front of every other one, for subprocesses too."""
    choice = os.environ.get(CHOICE)
    if not choice:
        return
    if hasattr(config, "workerinput"):  # inherits the variables, but not the path of imports
        sys.path.insert(0, os.environ["PYTHONPATH"].partition(os.pathsep)[0])
        return
    binary = next(in_package(choice), None) if choice in PACKAGES else shutil.which(choice)
    if binary is None:
        message = f"{CHOICE}={choice}: there is no such Redis server"
        raise pytest.UsageError(message)
    config.stash[_folder] = tempfile.TemporaryDirectory(prefix="tr-bin-")
    folder = Path(config.stash[_folder].name)
    # By both names, or a newer server of the other name would be taken.
    for name in ("redis-server", "valkey-server"):
        (folder / name).symlink_to(Path(binary).resolve())
    hide_packages(folder)
    sys.path.insert(0, str(folder))
    for variable in ("PATH", "PYTHONPATH"):
        others = os.environ.get(variable)
        os.environ[variable] = f"{folder}{os.pathsep}{others}" if others else str(folder)


def hide_packages(folder: Path) -> None:
    """Make packages without a server, for a folder in front of those that have one."""
    for package in PACKAGES:
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").touch()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder that was put in front."""
    folder = config.stash.get(_folder, None)
    if folder is not None:
        folder.cleanup()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line which server the tests ran, or would have run."""
    try:
        binary = find_servers()[0].path
    except ServerUnavailable as error:
        terminalreporter.write_line(str(error))
        return
    answer = subprocess.run([binary, "--version"], check=False, capture_output=True, text=True)
    terminalreporter.write_line(f"Redis: {' '.join(answer.stdout.split()[:4])}")
