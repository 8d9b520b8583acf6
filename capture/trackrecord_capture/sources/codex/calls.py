"""Calls of Codex' tools, as its rollouts tell of them: what was called, and with what."""

import re
import shlex
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from ..declaration import Action, tools_of
from ..excerpts import LONGEST_COMMAND, excerpt, tool_name
from ..json_values import as_object, as_text, value_in
from ..open_calls import MOST_EDITS, patched_files
from .outputs import read_output
from .thread import Record

TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="exec_command shell shell_command local_shell container.exec user_shell",
    edit="apply_patch",
    read="read_file view_image",
    search="grep_files list_dir",
    delegate="spawn_agent",
    plan="update_plan",
    web_search="web_search",
)
PATCH: Final = "apply_patch"
_SHELL_NAMES: Final = re.compile(r"(?:.*/)?(?:ba|z|da|k|fi)?sh\Z")
_SCRIPT_FLAGS: Final = re.compile(r"-[a-z]*c\Z")
_ARGV_OF_SCRIPT: Final = 3
_MCP: Final = "mcp__"
_MILLIS_A_SECOND: Final = 1e3
_NANOS_A_MILLI: Final = 1e6
# In code mode the model writes scripts that call the tools, and asks what became of slow ones.
_CODE_MODE: Final = "functions"


def is_of_code_mode(payload: Record, tool: str) -> bool:
    """Return whether a call runs a script, or waits for one."""
    return as_text(payload.get("namespace")) == _CODE_MODE and as_text(payload.get("name")) == tool


def called_tool(payload: Record) -> str:
    """Return a tool's name; of a tool of an MCP server "server:tool"."""
    name, namespace = as_text(payload.get("name")), as_text(payload.get("namespace"))
    if namespace.startswith(_MCP):
        return f"{namespace.removeprefix(_MCP).strip('_')}:{name}"
    return tool_name(name or as_text(payload.get("type")).removesuffix("_call"))


def called_with(payload: Record, tool: str) -> Any:  # noqa: ANN401 - decoded JSON
    """Return the arguments of a call; of a patch the files, for its text is their content."""
    if payload.get("type") == "custom_tool_call":
        text = as_text(payload.get("input"))
        files = patched_files(text)
        return {"files": list(files), "patch": text} if files else {"input": text}
    arguments: Any = payload.get("arguments")
    if isinstance(arguments, str):
        arguments = value_in(arguments, excerpt(arguments, LONGEST_COMMAND))
    if TOOLS.get(tool) == "shell":
        return shell_arguments(arguments)
    if tool == PATCH:
        text = as_text(as_object(arguments).get("input"))
        return {"files": list(patched_files(text)), "patch": text}
    return arguments


def shell_arguments(arguments: Any) -> dict[str, str]:  # noqa: ANN401 - decoded JSON
    """Return the command line and the folder in the arguments of a shell tool."""
    given = as_object(arguments)
    named = (given.get(name) for name in ("workdir", "working_directory", "cwd"))
    folder = next((_path_of(each) for each in named if isinstance(each, str)), "")
    command = next((given[n] for n in ("cmd", "command") if n in given), None)
    return {"command": _line_of(command if given else arguments), "cwd": folder}


def _line_of(command: Any) -> str:  # noqa: ANN401 - decoded JSON
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(each, str) for each in command):
        return ""
    is_script = len(command) == _ARGV_OF_SCRIPT and _SCRIPT_FLAGS.match(command[1])
    if is_script and _SHELL_NAMES.match(command[0]):
        return str(command[2])
    return shlex.join(command)


def _path_of(text: str) -> str:
    """Return a path that may be written as a file URL."""
    return unquote(urlsplit(text).path) if text.startswith("file://") else text


def changed_files(changes: Any) -> tuple[str, ...]:  # noqa: ANN401 - decoded JSON
    """Return the files of a change that was applied: an object by path, or a list with paths."""
    listed = changes if isinstance(changes, list) else ()
    named: list[object] = [as_object(each).get("path") for each in listed]
    named += as_object(changes)
    return tuple(_path_of(path) for path in named if isinstance(path, str))[:MOST_EDITS]


def mcp_result(ended: dict[str, Any]) -> tuple[bool | None, str]:
    """Return whether a call of an MCP tool succeeded, and its output."""
    error, result = ended.get("error"), ended.get("result")
    if isinstance(error, dict):
        return False, str(error.get("message", ""))
    if not isinstance(result, dict):
        return None, ""
    if "Err" in result:
        return False, str(result["Err"])
    told = result.get("Ok", result)
    if not isinstance(told, dict):
        return None, ""
    return not told.get("isError", told.get("is_error")), read_output(told).text


def millis(duration: Any) -> float | None:  # noqa: ANN401 - decoded JSON
    """Return a duration in milliseconds."""
    if not isinstance(duration, dict):
        return None
    seconds, nanos = duration.get("secs", 0), duration.get("nanos", 0)
    if not isinstance(seconds, (int, float)) or not isinstance(nanos, (int, float)):
        return None
    return float(seconds) * _MILLIS_A_SECOND + float(nanos) / _NANOS_A_MILLI or None
