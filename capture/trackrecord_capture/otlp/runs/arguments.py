"""The arguments of a call, which frameworks record as JSON, as Python's repr, bare, or wrapped."""

from collections.abc import Mapping
from typing import Any, Final

from ..facts.values import document

# Wrappers around what the tool was given: LangChain's callback, smolagents' forwarded call.
_INPUTS: Final = ("input_str", "inputs", "input")
_SHELLS: Final = frozenset({
    "bash", "exec_command", "execute_bash", "execute_command", "execute_shell", "local_shell",
    "powershell", "run_bash", "run_command", "run_in_terminal", "run_shell", "run_shell_command",
    "run_terminal_cmd", "sh", "shell", "shell_command", "shell_tool", "terminal", "zsh",
})  # fmt: skip
_COMMANDS: Final = ("command", "cmd", "commands", "script", "input")
_EDITORS: Final = frozenset({
    "apply_diff", "apply_patch", "create_file", "edit", "edit_file", "insert_edit_into_file",
    "multiedit", "notebookedit", "patch", "replace_in_file", "search_replace", "str_replace",
    "str_replace_based_edit_tool", "str_replace_editor", "update_file", "write", "write_file",
    "write_to_file",
})  # fmt: skip
_PATHS: Final = ("file_path", "path", "filename", "file", "filepath", "filePath", "target_file")
_READS: Final = frozenset({"view", "read"})


def arguments_in(text: str) -> Any:  # noqa: ANN401 - arguments of any shape
    """Return the tool's arguments; a text that is not a document stays as it is."""
    return _unwrapped(document(text))


def _unwrapped(value: Any) -> Any:  # noqa: ANN401 - as above
    if not isinstance(value, Mapping):
        return value
    args, kwargs = value.get("args", []), value.get("kwargs")
    if (
        isinstance(kwargs, Mapping)
        and isinstance(args, list)
        and ("args" in value or len(value) == 1)
    ):
        return kwargs or (args[0] if len(args) == 1 else args)
    # LangChain's callback puts the input beside the tags and the metadata of the run.
    if "tags" in value and "metadata" in value:
        for name in _INPUTS:
            if name in value:
                held = value[name]
                return document(held) if isinstance(held, str) else held
    return value


def command_in(tool: str, arguments: object) -> str:
    """Return the command line of a shell call; "" if the tool is not a shell."""
    if _plain(tool) not in _SHELLS:
        return ""
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, Mapping):
        for name in _COMMANDS:
            held = arguments.get(name)
            if isinstance(held, str) and held:
                return held
            if isinstance(held, list) and held:
                return _joined([str(word) for word in held])
    return ""


def _joined(words: list[str]) -> str:
    """Return an argument vector as a command line; for a shell with -c, its script."""
    if len(words) >= 3 and words[-2] in ("-c", "-lc"):
        return words[-1]
    return " ".join(words)


def edits_in(tool: str, arguments: object) -> tuple[str, ...]:
    """Return the files that a call of an editing tool changes."""
    if _plain(tool) not in _EDITORS or not isinstance(arguments, Mapping):
        return ()
    if arguments.get("command") in _READS:
        return ()
    for name in _PATHS:
        held = arguments.get(name)
        if isinstance(held, str) and held:
            return (held,)
    return ()


def _plain(tool: str) -> str:
    return tool.rpartition(":")[2].rpartition(".")[2].strip().lower()
