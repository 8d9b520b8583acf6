"""A call of a tool while its session is read: what it asks for, and how it ends."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..agent_run import RunCall, SubAgent
from .excerpts import LONGEST_COMMAND, LONGEST_RESULT, excerpt, excerpts_in, tool_name
from .sub_agents import started_sub_agent, sub_agent_of

# A record that is lost may have told of a call, and that may have changed anything.
LOST: Final = "unreadable"
LOST_EDITS: Final = ("",)
MOST_EDITS: Final = 200
_PATCHED: Final = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE
)


def patched_files(text: str) -> tuple[str, ...]:
    """Return the files that a patch in a text names; none without a patch."""
    if "*** Begin Patch" not in text:
        return ()
    return tuple(dict.fromkeys(_PATCHED.findall(text)))[:MOST_EDITS]


_CHANGING: Final = ("edit", "write")
_COMMANDS: Final = ("command", "cmd", "commands", "script")
_FOLDERS: Final = ("cwd", "workdir", "working_dir", "working_directory", "directory", "dir_path")
# The arguments of tools for files that are no content.
_OF_FILES: Final = frozenset({
    "file_path", "filePath", "absolute_path", "path", "paths", "notebook_path", "target_file",
    "filename", "file", "files", "pattern", "query", "glob", "offset", "limit", "replace_all",
})  # fmt: skip
_PATHS: Final = (
    "file_path", "filePath", "absolute_path", "path", "notebook_path", "target_file", "filename",
    "file",
)  # fmt: skip
# Tools of MCP servers and of other programs that change files.
_EDITING: Final = re.compile(
    r"(?:write|edit|create|append|patch|move|delete)_(?:file|files|text_file)\Z|str_replace"
)
_PATCHES: Final = ("patch", "input", "patchText", "patch_text", "diff")


@dataclass(slots=True)
class OpenCall:
    """A call of a tool as far as it is known; see `RunCall` for the attributes.

    Attributes:
        action: what its tool does; see `CodingAgent`.
        is_open: whether nothing was said yet of how it ended.
        is_cancelled: whether it did not come to an end: the person did not allow or stopped it.
    """

    tool: str
    id: str
    action: str
    arguments: Any
    command: str
    folder: str
    edits: tuple[str, ...]
    sub_agent: SubAgent | None
    started_at: float | None
    actor: str = "agent"
    ok: bool | None = None
    exit_code: int | None = None
    result: str = ""
    error: str = ""
    duration_ms: float | None = None
    is_open: bool = True
    is_cancelled: bool = False

    def finished(self) -> RunCall:
        """Return the call."""
        ok = None if self.is_cancelled else self.ok
        has_failed = ok is False
        error = self.error or (self.result if has_failed else "")
        if error and self.action in (*_CHANGING, "read"):
            # More than the first line may repeat what stands in the file.
            error = excerpt(error.strip().partition("\n")[0], LONGEST_RESULT)
        judged = {
            "ok": ok,
            "edits": () if has_failed else self.edits,
            "error": error if has_failed or self.error else "",
        }
        told = {name: getattr(self, name) for name in RunCall.__struct_fields__}
        return RunCall(**told | judged)


def open_call(
    call_id: str,
    tool: str,
    action: str,
    arguments: Any,  # noqa: ANN401 - decoded JSON
    at: float | None,
) -> OpenCall:
    """Return a call as it is made.

    Args:
        call_id: its id.
        tool: the tool.
        action: what the tool does, see `CodingAgent`; "" if its name alone tells.
        arguments: its arguments.
        at: when.
    """
    action = action or ("edit" if _EDITING.search(tool) else "")
    given = arguments if isinstance(arguments, dict) else {}
    command = _command(given) if action == "shell" else ""
    edits = _edits(given) if action in _CHANGING else ()
    if action == "shell":
        edits = patched_files(command)
    kept = arguments
    if action in (*_CHANGING, "read", "search"):
        kept = {name: value for name, value in given.items() if name in _OF_FILES}
    return OpenCall(
        tool=tool_name(tool),
        id=call_id,
        action=action,
        arguments=excerpts_in(kept),
        command=excerpt(command, LONGEST_COMMAND),
        folder=_first_text(given, _FOLDERS) if action == "shell" else "",
        edits=edits,
        sub_agent=started_sub_agent(given) if action == "delegate" else sub_agent_of(tool, given),
        started_at=at,
    )


def _first_text(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    texts = (given.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text), "")


def _command(given: Mapping[str, Any]) -> str:
    """Return the command line of a shell's arguments; several are one below the other."""
    for name in _COMMANDS:
        value = given.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            lines = (
                _first_text(each, ("command", "cmd")) if isinstance(each, dict) else each
                for each in value[:50]
            )
            return "\n".join(line for line in lines if isinstance(line, str))
    return ""


def _edits(given: Mapping[str, Any]) -> tuple[str, ...]:
    paths = [path for path in (given.get(name) for name in _PATHS) if isinstance(path, str)][:1]
    for name in _PATCHES:
        if isinstance(text := given.get(name), str):
            paths += patched_files(text)
    return tuple(dict.fromkeys(filter(None, paths)))[:MOST_EDITS]
