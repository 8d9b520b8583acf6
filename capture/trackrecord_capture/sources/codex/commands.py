"""The commands and the patches in the arguments of Codex's tools."""

import re
import shlex
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from ..patches import MOST_EDITS

SHELLS: Final = frozenset(
    {"shell", "shell_command", "exec_command", "local_shell", "container.exec", "user_shell"}
)
_SHELL_NAMES: Final = re.compile(r"(?:.*/)?(?:ba|z|da|k|fi)?sh\Z")
_SCRIPT_FLAGS: Final = re.compile(r"-[a-z]*c\Z")
_ARGV_OF_SCRIPT: Final = 3


def command_of(arguments: Any) -> str:  # noqa: ANN401 - decoded JSON
    """Return the command line in the arguments of a shell tool; "" if there is none."""
    if isinstance(arguments, dict):
        arguments = next((arguments[n] for n in ("cmd", "command") if n in arguments), None)
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        return ""
    is_script = len(arguments) == _ARGV_OF_SCRIPT and _SCRIPT_FLAGS.match(arguments[1])
    if is_script and _SHELL_NAMES.match(arguments[0]):
        return str(arguments[2])
    return shlex.join(arguments)


def folder_of(arguments: Any) -> str:  # noqa: ANN401 - decoded JSON
    """Return the folder in the arguments of a shell tool; "" if they name none."""
    if not isinstance(arguments, dict):
        return ""
    named = (arguments.get(name) for name in ("workdir", "working_directory", "cwd"))
    return next((path_of(each) for each in named if isinstance(each, str)), "")


def path_of(text: str) -> str:
    """Return a path that may be written as a file URL."""
    return unquote(urlsplit(text).path) if text.startswith("file://") else text


def changed_files(changes: Any) -> tuple[str, ...]:  # noqa: ANN401 - decoded JSON
    """Return the files of a change that was applied: an object by path, or a list with paths."""
    if isinstance(changes, dict):
        return tuple(path_of(str(path)) for path in changes)[:MOST_EDITS]
    if not isinstance(changes, list):
        return ()
    paths = (each.get("path") for each in changes if isinstance(each, dict))
    return tuple(path_of(path) for path in paths if isinstance(path, str))[:MOST_EDITS]
