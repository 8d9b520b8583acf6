"""The sources of settings: the environment, then files; values are not checked here.

A `trackrecord.toml` in the working directory may belong to whoever wrote the repository that an
agent has entered. Unless the user trusts its folder by name, only harmless settings are taken from
it: it can neither send outcomes elsewhere nor feed prompts.
"""

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from platformdirs import user_config_path, user_data_path

from trackrecord.errors import SettingsError, StoreUnfit
from trackrecord.learning.text.project_names import checked_project
from trackrecord.process.forking import not_while_forking

from .gone_settings import is_gone, without_gone
from .setting_values import decoded, unknown

ENV_PREFIX: Final = "TRACKRECORD_"
CONFIG_FILE: Final = "trackrecord.toml"
# Names the user's file; it is not a setting, as no file can name itself.
CONFIG_VARIABLE: Final = ENV_PREFIX + "CONFIG"
TRUSTED: Final = "trusted_folders"
# The settings that an untrusted file in the working directory may set, each with its check.
HARMLESS: Final[Mapping[str, Callable[[Any], Any]]] = {"project": checked_project}

_MAX_BYTES = 1024 * 1024
# The time that TOML takes grows with the square of a malicious file's size.
_MAX_UNTRUSTED_BYTES = 4096


@dataclass(frozen=True)
class Sources:
    """The settings from the environment and the files.

    Attributes:
        values: by setting; those of a section of rules are a mapping themselves.
        ignored: one line on what was ignored of a file in the working directory; None for nothing.
        gone: the settings that an earlier version had, as "section.number".
    """

    values: dict[str, Any] = field(default_factory=dict)
    ignored: str | None = None
    gone: tuple[str, ...] = ()


class _Unreadable(Exception):
    """Raised when a file cannot be read; the message repeats nothing of the file."""


class KnownSettings(NamedTuple):
    """The settings that exist.

    Attributes:
        has: returns whether there is one of a name, and in its section a number.
        nearest: returns the one that is spelt most like a name, as "section.number"; None when
            none is close.
    """

    has: Callable[[str, str], bool]
    nearest: Callable[[str], str | None]


def read_sources(known: KnownSettings) -> Sources:
    """Return the settings in the environment and in the files; the nearest wins.

    Args:
        known: the settings that exist.

    Raises:
        SettingsError: the setting is unknown, or the user's own file cannot be read.
    """
    environment = _environment(known)
    users = _users_file(known)
    local, ignored = _local_file(users, environment, known)
    values, gone = without_gone(merged(merged(users, local), environment))
    return Sources(values, ignored, gone)


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return both, where `above` wins; the numbers of a section are merged one by one."""
    both = dict(below)
    for name, value in above.items():
        under = both.get(name)
        if isinstance(under, Mapping) and isinstance(value, Mapping):
            both[name] = {**under, **value}
        else:
            both[name] = value
    return both


def _environment(known: KnownSettings) -> dict[str, Any]:
    given: dict[str, Any] = {}
    # In this order the JSON of a whole section comes before its single numbers.
    for variable in sorted(os.environ):
        if not variable.startswith(ENV_PREFIX) or variable == CONFIG_VARIABLE:
            continue
        name, _, number = variable.removeprefix(ENV_PREFIX).lower().partition("__")
        if not known.has(name, number) and not is_gone(name, number):
            written = variable.removeprefix(ENV_PREFIX).lower().replace("__", ".")
            nearest = known.nearest(written)
            meant = nearest and f"{ENV_PREFIX}{nearest.replace('.', '__').upper()}"
            raise unknown(variable, meant)
        text = os.environ[variable]
        if text and number:
            section = decoded(given.get(name) or {})
            if isinstance(section, dict):
                given[name] = {**section, number: text}
        elif text:
            given[name] = text
    return given


def _users_path() -> Path:
    named = os.environ.get(CONFIG_VARIABLE)
    return Path(named).expanduser() if named else user_config_path("trackrecord") / CONFIG_FILE


def _users_file(known: KnownSettings) -> dict[str, Any]:
    path = _users_path()
    try:
        given = _read_file(path, _MAX_BYTES, follow_links=True)
    except FileNotFoundError:
        if not os.environ.get(CONFIG_VARIABLE):
            return {}
        message = f"{CONFIG_VARIABLE} names a file that does not exist: {path}"
        raise SettingsError(message) from None
    except _Unreadable as error:
        message = f"settings cannot be read from {path}: {error}"
        raise SettingsError(message) from None
    _require_known(given, path, known)
    return given


def _local_file(
    users: Mapping[str, Any], environment: Mapping[str, Any], known: KnownSettings
) -> tuple[dict[str, Any], str | None]:
    """Return the settings from the working directory, and the ignored ones."""
    own = merged(users, environment)
    try:
        folder = Path.cwd()
    except OSError:  # it was deleted
        return {}, None
    path = folder / CONFIG_FILE
    if _is_users_file(path):
        return {}, None
    is_trusted = _is_among(folder, decoded(own.get(TRUSTED, ())))
    try:
        given = _read_file(
            path, _MAX_BYTES if is_trusted else _MAX_UNTRUSTED_BYTES, follow_links=is_trusted
        )
    except FileNotFoundError:
        return {}, None
    except _Unreadable as error:
        if not is_trusted:
            return {}, _ignored(str(error))
        message = f"settings cannot be read from {path}: {error}"
        raise SettingsError(message) from None
    if is_trusted:
        _require_known(given, path, known)
        return given, None
    taken, ignored = _harmless(given)
    if "project" in taken and "project" not in environment:
        taken["project"] = project = _own_project(taken["project"], folder, own)
        if project != given["project"]:
            ignored = ignored or (
                f"{CONFIG_FILE} in the working directory names a project of another repository: "
                f"outcomes belong to {project}; to choose a project, set {ENV_PREFIX}PROJECT"
            )
    return taken, ignored


def _own_project(name: str, folder: Path, own: Mapping[str, Any]) -> str:
    """Return the project of an untrusted folder that wants a name: never that of a stranger's.

    Args:
        name: what its file says.
        folder: the working directory.
        own: the user's own settings; the project that these give to the folder counts.
    """
    with not_while_forking():
        from .capture_rules import mapped_project
        from .projects.project_claims import ProjectClaims
        from .projects.repositories import repository_of
    if mapped := mapped_project(str(folder), _mapping(own)):
        return mapped
    repository = repository_of(str(folder))
    if repository is None:
        return name
    home = Path(str(own.get("home") or user_data_path("trackrecord"))).expanduser()
    try:
        return ProjectClaims(home).project(repository._replace(name=name, tree="", mark=""))
    except StoreUnfit:  # a home that cannot be written knows of no other repository
        return name


def _mapping(own: Mapping[str, Any]) -> dict[str, str]:
    """Return the projects of folders in the user's own settings, unchecked."""
    section = decoded(own.get("capture"))
    listed = decoded(section.get("projects")) if isinstance(section, dict) else None
    with suppress(KeyError, TypeError, ValueError):
        rows = listed if isinstance(listed, (list, tuple)) else ()
        return {str(one["folder"]): checked_project(one["project"]) for one in rows}
    return {}


def _harmless(given: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return the file's harmless and valid settings, and the problems of the rest."""
    taken = {}
    for name, check in HARMLESS.items():
        with suppress(KeyError, ValueError):
            taken[name] = check(given[name])
    if len(taken) == len(given):
        return taken, None
    return taken, (
        f"{CONFIG_FILE} in the working directory: only {', '.join(HARMLESS)} is read, the rest is "
        f"ignored, because the folder is not trusted; move the rest to {_users_path()}, or name "
        f"the folder in {ENV_PREFIX}{TRUSTED.upper()}"
    )


def _ignored(reason: str) -> str:
    return f"{CONFIG_FILE} in the working directory is ignored: {reason}"


def _is_users_file(path: Path) -> bool:
    try:
        return path.samefile(_users_path())
    except OSError:
        return False


def _is_among(folder: Path, trusted: object) -> bool:
    if not isinstance(trusted, (list, tuple)):
        return False
    return any(_is_same(folder, one) for one in trusted)


def _is_same(folder: Path, named: object) -> bool:
    try:
        return folder.samefile(Path(str(named)).expanduser())
    except (OSError, RuntimeError, ValueError):
        return False


def _require_known(given: Mapping[str, Any], path: Path, known: KnownSettings) -> None:
    for name, value in given.items():
        numbers = value if isinstance(value, Mapping) else ("",)
        for number in numbers:
            if not known.has(name, number) and not is_gone(name, number):
                written = f"{name}.{number}" if number else name
                error = unknown(written, known.nearest(written))
                message = f"{error} ({path})"
                raise SettingsError(message)


def _read_file(path: Path, most: int, *, follow_links: bool) -> dict[str, Any]:
    # Without waiting: the file could be a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    try:
        if not follow_links and path.is_symlink():
            message = "it is a symbolic link"
            raise _Unreadable(message)
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError from None
    except OSError as error:
        raise _Unreadable(error.strerror or type(error).__name__) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            message = "it is not a regular file"
            raise _Unreadable(message)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(most + 1)
    except OSError as error:
        raise _Unreadable(error.strerror or type(error).__name__) from None
    finally:
        os.close(descriptor)
    return _parsed(data, most)


def _parsed(data: bytes, most: int) -> dict[str, Any]:
    if len(data) > most:
        message = f"it has more than {most} bytes"
    else:
        with not_while_forking():
            import tomllib
        try:
            return tomllib.loads(data.decode())
        except UnicodeDecodeError:
            message = "it is not UTF-8"
        except RecursionError:
            message = "it is nested too deeply"
        except (ValueError, OverflowError) as error:
            place = str(error).rpartition("(at ")[2].rstrip(")")
            message = f"it is not TOML ({place})" if place.startswith("line") else "it is not TOML"
    raise _Unreadable(message)
