"""Calls of tools, as the parts of opencode's messages hold them."""

import re
from typing import Any, Final

import msgspec

from trackrecord.artifacts.summary.summaries import BEGINNING

from ...agent_run import RunCall, SubAgent
from ..excerpts import LONGEST_COMMAND, excerpt, excerpts_in
from ..json_values import as_object, as_text
from ..moments import seconds_of_millis
from ..patches import MOST_EDITS, patched_files
from ..raw_json import object_of, text_of
from ..sub_agents import sub_agent_of
from .records import Part

_SHELL: Final = "bash"
_INVALID: Final = "invalid"
_EDITING: Final = frozenset({"edit", "write", "patch", "multiedit", "apply_patch"})
# Arguments of the editing tools that hold the content of files.
_CONTENTS: Final = frozenset({"content", "oldString", "newString", "edits", "patchText"})
_REFUSED: Final = re.compile(r"(?:Error: )?The user rejected permission\b")
_ABORTED: Final = re.compile(r"(?:Error: )?(?:Tool execution aborted|The operation was aborted)")
# A command that was stopped counts as completed, and ends in this.
_STOPPED: Final = re.compile(r"User aborted the command\s*(?:</\w+>\s*)?\Z")


def is_refused(call: RunCall) -> bool:
    """Return whether the person did not allow a call."""
    return _REFUSED.match(call.error) is not None


def call_of(part: Part) -> RunCall:
    """Return the call that a part of a message holds."""
    state, tool = object_of(part.state), excerpt(text_of(part.tool), 128)
    arguments, metadata, time = (
        as_object(state.get(name)) for name in ("input", "metadata", "time")
    )
    status, error = state.get("status"), as_text(state.get("error"))
    if tool == _INVALID and status == "completed":
        # What the model called is no tool, or not called so: opencode answers in its place.
        tool, status = excerpt(as_text(arguments.get("tool")), 128) or tool, "error"
        error = as_text(arguments.get("error")) or as_text(state.get("output"))
        arguments = {}
    code = metadata.get("exit") if tool == _SHELL else None
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    output = _output(state, metadata)
    is_stopped = tool == _SHELL and exit_code is None and _STOPPED.search(output) is not None
    ok = None if is_stopped else _ok(status, exit_code, error)
    result = excerpt(output)
    started, ended = seconds_of_millis(time.get("start")), seconds_of_millis(time.get("end"))
    is_timed = started is not None and ended is not None and status in ("completed", "error")
    return RunCall(
        tool=tool or "unknown",
        id=text_of(part.callID),
        arguments=_kept(tool, arguments),
        command=excerpt(as_text(arguments.get("command")), LONGEST_COMMAND)
        if tool == _SHELL
        else "",
        folder=as_text(arguments.get("workdir")) if tool == _SHELL else "",
        edits=_edits(tool, arguments, metadata) if status == "completed" else (),
        ok=ok,
        exit_code=exit_code,
        error=excerpt(error) or (result if ok is False else ""),
        result=result,
        started_at=started,
        duration_ms=(ended - started) * 1000 if is_timed else None,  # type: ignore[operator] # both
        sub_agent=_sub_agent(tool, arguments, as_text(metadata.get("sessionId"))),
    )


def _sub_agent(tool: str, arguments: dict[str, Any], session: str) -> SubAgent | None:
    sub_agent = sub_agent_of(tool, arguments)
    return sub_agent and msgspec.structs.replace(sub_agent, id=session)


def _output(state: dict[str, Any], metadata: dict[str, Any]) -> str:
    """Return the output of a call; the full one if the model was given a summary."""
    given, printed = as_text(state.get("output")), as_text(metadata.get("output"))
    return printed if printed and (not given or given.startswith(BEGINNING)) else given


def _ok(status: object, exit_code: int | None, error: str) -> bool | None:
    if status == "error":
        # Nobody knows how a call would have ended that the person stopped or did not allow.
        return None if _REFUSED.match(error) or _ABORTED.match(error) else False
    if status != "completed":
        return None
    return exit_code == 0 if exit_code is not None else True


def _kept(tool: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON of any kind
    """Return the arguments without the content of files, and with long texts shortened."""
    if tool in _EDITING:
        arguments = {name: each for name, each in arguments.items() if name not in _CONTENTS}
    return excerpts_in(arguments)


def _edits(tool: str, arguments: dict[str, Any], metadata: dict[str, Any]) -> tuple[str, ...]:
    if tool not in _EDITING:
        return ()
    named = [arguments.get("filePath"), metadata.get("filepath")]
    files = metadata.get("files")
    if isinstance(files, list):
        named += [each.get("filePath") if isinstance(each, dict) else each for each in files]
    paths = [each for each in named if isinstance(each, str) and each]
    paths += patched_files(as_text(arguments.get("patchText")))
    return tuple(dict.fromkeys(paths))[:MOST_EDITS]
