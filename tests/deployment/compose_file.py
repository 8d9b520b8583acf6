"""docker-compose.yml as Compose reads it, and its commands as plain processes."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
COMPOSE_FILE = ROOT / "docker-compose.yml"

# ${NAME}, ${NAME:?why it is needed}, ${NAME:-default}; $$ stands for one dollar.
_VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?::(?P<sign>[?-])(?P<rest>[^}]*))?\})")


class Missing(Exception):
    """Raised when a variable is needed and not given."""


def read_compose(variables: Mapping[str, str]) -> dict[str, Any]:
    """The file with its variables filled in.

    Raises:
        Missing: one that the file insists on is not given.
    """

    def value_of(found: re.Match[str]) -> str:
        if found["name"] is None:
            return "$"
        given = variables.get(found["name"], "")
        if not given and found["sign"] == "?":
            raise Missing(found["name"])
        return given or (found["rest"] if found["sign"] == "-" else "") or ""

    def filled(node: Any) -> Any:
        if isinstance(node, dict):
            return {name: filled(value) for name, value in node.items()}
        if isinstance(node, list):
            return [filled(value) for value in node]
        return _VARIABLE.sub(value_of, node) if isinstance(node, str) else node

    document: dict[str, Any] = filled(yaml.safe_load(COMPOSE_FILE.read_text()))
    return document


def as_process(command: list[str]) -> list[str]:
    """A container's command with the Python of these tests."""
    return [sys.executable, *command[1:]] if command[0] == "python" else list(command)


def environment_of(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of a plain process that is to have the container's."""
    outside = {
        name: value for name, value in os.environ.items() if not name.startswith("TRACKRECORD_")
    }
    return outside | dict(settings)


@contextmanager
def running(
    command: list[str], environment: Mapping[str, str], folder: Path, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process, ended at the latest when the block ends."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=dict(environment), cwd=folder, stdout=output, stderr=output
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
