"""Virtual environments in which nothing is installed but what a user asks pip for."""

import os
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deployment.compose_file import ROOT, environment_of

# What pip says when it cannot reach a package index.
_OFFLINE = ("Failed to establish a new connection", "name resolution", "Network is unreachable")
# What `python -m venv` brings by itself.
_OF_VENV = {"pip", "setuptools"}


class EmptyEnvironment:
    """A virtual environment of a test's own.

    Args:
        folder: where it is made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, wheel: Path, extras: str) -> None:
        """Install the wheel with these extras, in the versions that the tests run with.

        Of wheels alone: whoever installs it may have no compiler.
        """
        named = f"trackrecord[{extras}] @ {wheel.as_uri()}" if extras else str(wheel)
        run_or_skip([sys.executable, "-m", "venv", "--without-pip", self.folder], ROOT)
        python = self.program("python")
        wanted = ["--constraint", ROOT / "constraints.txt", "--only-binary", ":all:", named]
        # uv resolves and installs the same in a thirtieth of pip's time. Where it is missing, or
        # where only pip was told of a package index, pip has the last word.
        uv = [sys.executable, "-m", "uv", "pip", "install", "--python", python, *wanted]
        if subprocess.run(uv, cwd=ROOT, capture_output=True, check=False).returncode != 0:
            run_or_skip([sys.executable, "-m", "pip", "--python", python, "install", *wanted], ROOT)

    def program(self, name: str) -> Path:
        """Return the path of a program of the environment."""
        return self.folder / "bin" / name

    def variables(self, home: Path, **settings: str) -> dict[str, str]:
        """Return the variables of its processes: no program is found but its own."""
        variables = environment_of(
            {"TRACKRECORD_HOME": str(home), "TRACKRECORD_HTTP__PORT": "0", **settings}
        )
        variables.pop("PYTHONPATH", None)
        return variables | {"PATH": str(self.folder / "bin")}

    def run(
        self, command: Iterable[str | Path], home: Path, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, in the home."""
        return subprocess.run(
            list(command), env=self.variables(home, **settings), cwd=home, capture_output=True,
            text=True, timeout=200, check=False,
        )  # fmt: skip

    def unexpected(self, extras: str) -> set[str]:
        """Return what is installed without being asked for by the metadata, or the reverse."""
        (site,) = self.folder.glob("lib/python*/site-packages")
        found = {
            canonicalize_name(each.name): each for each in metadata.distributions(path=[str(site)])
        }
        return (found.keys() ^ _closure(found, extras, self._version)) - _OF_VENV

    @property
    def _version(self) -> str:
        """The version of its Python: `python` on the PATH may be another one than the tests'."""
        lines = (self.folder / "pyvenv.cfg").read_text().splitlines()
        settings = dict(line.split(" = ", 1) for line in lines if " = " in line)
        return settings.get("version") or settings["version_info"]


def run_or_skip(
    command: list[str | Path], folder: Path, *, shell: str = "", **variables: str
) -> None:
    """Run an installation; without a package index the test is skipped, on CI it fails."""
    done = subprocess.run(
        ["/bin/sh", "-ec", shell] if shell else command, cwd=folder,
        env={**os.environ, "PIP_QUIET": "1", **variables}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    if any(sign in said for sign in _OFFLINE) and not os.environ.get("CI"):
        pytest.skip("pip cannot reach a package index")
    assert done.returncode == 0, said


def _closure(found: dict[str, metadata.Distribution], extras: str, python_version: str) -> set[str]:
    """Return the names of the distributions that trackrecord with these extras needs."""
    python = {
        "python_full_version": python_version,
        "python_version": ".".join(python_version.split(".")[:2]),
    }
    needed: set[str] = set()
    seen: set[str] = set()
    waiting = [Requirement(f"trackrecord[{extras}]")]
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        name = canonicalize_name(requirement.name)
        needed.add(name)
        for line in (found[name].requires if name in found else None) or []:
            inner = Requirement(line)
            wanted = {"", *requirement.extras}
            if inner.marker is None or any(
                inner.marker.evaluate({**python, "extra": extra}) for extra in wanted
            ):
                waiting.append(inner)
    return needed
