"""The steps of a story as calls of the tools that a client offers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.clients.steps import Delegate, Misfit, Run, Step, Use, Write

SHELLS: Final = (
    *("Bash", "bash", "exec_command", "shell_command", "shell"),
    *("run_shell_command", "run_commands"),
)
_WRITERS: Final = ("Write", "write", "write_file", "create", "editor")
_EDITORS: Final = ("Edit", "edit")
_NOT_THERE: Final = "A line that no file has"
CODE_MODE: Final = "exec"
WAITING: Final = "wait_agent"
SPAWNING: Final = "spawn_agent"


class Offer(NamedTuple):
    """A tool that a client offers to the model.

    Attributes:
        kind: "custom" if it takes a text, and not arguments with names.
        namespace: what the client puts before its name.
        takes: the names of its arguments.
    """

    kind: str = "function"
    namespace: str = ""
    takes: frozenset[str] = frozenset()

    def filled(self, **known: Any) -> dict[str, Any]:
        """Return the arguments among those that are known which the tool takes."""
        return {name: value for name, value in known.items() if name in self.takes}


class ToolCall(NamedTuple):
    """A call of a tool: arguments of a "custom" tool are a text, all others an object."""

    tool: str
    arguments: Any


def has_a_shell(offers: Mapping[str, Offer]) -> bool:
    """Return whether these are the tools of an agent, and not those of a request for a title."""
    return CODE_MODE in offers or any(shell in offers for shell in SHELLS)


def call_of(step: Step, offers: Mapping[str, Offer]) -> ToolCall:
    """Return the call with which a client of these tools does a step."""
    match step:
        case Run(command):
            return _run(offers, command)
        case Write(path, text):
            return _write(offers, path, text)
        case Misfit(path):
            return _misfit(offers, path)
        case Delegate(prompt):
            return _delegate(offers, prompt)
        case Use(tool, arguments):
            return _use(offers, tool, arguments)
        case _:
            message = f"not a call of a tool: {step}"
            raise AssertionError(message)


def _run(offers: Mapping[str, Offer], command: str) -> ToolCall:
    if CODE_MODE in offers:
        asked = json.dumps({"cmd": command})
        return ToolCall(CODE_MODE, f"const r = await tools.exec_command({asked});\ntext(r);")
    tool = next(name for name in SHELLS if name in offers)
    if tool == "exec_command":
        return ToolCall(tool, {"cmd": command})
    if tool == "shell":
        return ToolCall(tool, {"command": ["bash", "-lc", command]})
    known = {"command": command, "commands": [command], "description": "run a command"}
    return ToolCall(tool, offers[tool].filled(**known, is_background=False))


def _write(offers: Mapping[str, Offer], path: Path, text: str) -> ToolCall:
    for tool in (name for name in _WRITERS if name in offers):
        where = dict.fromkeys(("file_path", "filePath", "path"), str(path))
        what = dict.fromkeys(("content", "file_text", "new_text"), text)
        return ToolCall(tool, offers[tool].filled(**where, **what))
    added = "\n".join(f"+{line}" for line in text.splitlines())
    return _patch(offers, f"*** Add File: {path.name}\n{added}")


def _misfit(offers: Mapping[str, Offer], path: Path) -> ToolCall:
    for tool in (name for name in _EDITORS if name in offers):
        where = dict.fromkeys(("file_path", "filePath"), str(path))
        replaced = dict.fromkeys(("old_string", "oldString"), _NOT_THERE)
        new = dict.fromkeys(("new_string", "newString"), "")
        return ToolCall(tool, offers[tool].filled(**where, **replaced, **new))
    return _patch(offers, f"*** Update File: {path.name}\n@@\n-{_NOT_THERE}\n+")


def _patch(offers: Mapping[str, Offer], hunks: str) -> ToolCall:
    patch = f"*** Begin Patch\n{hunks}\n*** End Patch"
    if CODE_MODE in offers:
        return ToolCall(CODE_MODE, f"text(await tools.apply_patch({json.dumps(patch)}));")
    if "apply_patch" in offers:
        return ToolCall("apply_patch", patch)
    return _run(offers, f"apply_patch <<'EOF'\n{patch}\nEOF")


def name_offered(offers: Mapping[str, Offer], tool: str) -> str | None:
    """Return what a client calls a tool of our MCP server; None if it does not offer it."""
    for name, offer in offers.items():
        whole = f"{offer.namespace}{name}"
        if "trackrecord" in whole and name.endswith(tool):
            return name
    return None


def _use(offers: Mapping[str, Offer], tool: str, arguments: Mapping[str, object]) -> ToolCall:
    name = name_offered(offers, tool)
    if name is not None:
        return ToolCall(name, arguments)
    named = f"mcp__trackrecord__{tool}"
    if CODE_MODE not in offers:
        # Offered by its name alone: the client takes the call all the same.
        return ToolCall(named, arguments)
    # A script calls what it is not offered as a tool of its own.
    called = f"const r = await tools.{named}({json.dumps(arguments)});"
    return ToolCall(CODE_MODE, f"{called}\ntext(JSON.stringify(r));")


def _delegate(offers: Mapping[str, Offer], prompt: str) -> ToolCall:
    for tool, kind in (
        ("Agent", "general-purpose"),
        ("Task", "general-purpose"),
        ("task", "general"),
    ):
        if tool in offers:
            asked = {"description": "look", "prompt": prompt, "subagent_type": kind}
            return ToolCall(tool, asked)
    if offers[SPAWNING].namespace == "collaboration":
        return ToolCall(SPAWNING, {"task_name": "look", "message": prompt, "fork_turns": "none"})
    return ToolCall(SPAWNING, {"message": prompt})


def wait_call(offers: Mapping[str, Offer], spawned: str) -> ToolCall:
    """Return the call that waits for a sub-agent, given what the call that started it answered."""
    if offers[WAITING].namespace == "collaboration":
        return ToolCall(WAITING, {})
    return ToolCall(WAITING, {"targets": [json.loads(spawned)["agent_id"]]})
