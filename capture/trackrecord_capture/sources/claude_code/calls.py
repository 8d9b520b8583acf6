"""The results of a transcript's calls."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from ...agent_run import RunCall, is_cancelled
from ..conversation import Conversation
from ..declaration import Action, tools_of
from ..excerpts import excerpt, excerpts_in
from ..json_values import as_object, as_text
from ..open_calls import OpenCall
from .records import Record, result_text
from .words import INTERRUPTED

NAME: Final = "claude-code"
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="Bash PowerShell",
    edit="Edit MultiEdit Update NotebookEdit",
    write="Write",
    read="Read NotebookRead",
    search="Grep Glob LS",
    delegate="Task Agent",
    plan="TodoWrite TaskCreate TaskUpdate",
    fetch="WebFetch",
    web_search="WebSearch",
)
_EXIT: Final = re.compile(r"(?:Error: )?Exit code (-?\d{1,9})\b[^\n]*\n?")
_TOOL_ERROR: Final = re.compile(r"\A\s*<tool_use_error>(.*?)(?:</tool_use_error>\s*)?\Z", re.DOTALL)
_TIMED_OUT: Final = re.compile(r"\b(?:Command )?timed out after\b")
_TIMED_OUT_CODE: Final = 124
_HEAD: Final = 256
_LOST: Final = "[Tool call interrupted: the session ended"
_REJECTED: Final = re.compile(r"\A(?:Error: )?The user doesn['’]t want to (?:proceed|take this)")
_AGENT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


def take_call(chat: Conversation, block: Record, at: float | None, folder: str) -> OpenCall | None:
    """Hand on a call as the model makes it; return it, or None if it has no id.

    Args:
        chat: the session.
        block: the call.
        at: when it was made.
        folder: the folder that the shell is in: an earlier command may have changed to it.
    """
    given, name = block.get("input"), as_text(block.get("name"))
    call_id = as_text(block.get("id"))
    call = chat.call(chat.use(call_id, name, given, at)) if call_id else None
    if call is not None:
        call.folder = folder if call.command else ""
        call.arguments = None if call.command else excerpts_in(given)
    return call


def take_result(
    chat: Conversation, call: OpenCall, block: Record, record: Record, at: float | None
) -> None:
    """Hand on the result of a call.

    Args:
        chat: the session.
        call: the call.
        block: the result, as the model sees it.
        record: what holds it, and beside it the result as Claude Code keeps it for itself.
        at: when it came.
    """
    text = result_text(block.get("content"))
    if call.ok is not None or call.is_cancelled:
        return
    has_failed = block.get("is_error") is True
    if _is_refusal(record, text, has_failed=has_failed):
        call.edits = ()
        chat.result(call.id, "", ok=None, at=at)
        chat.refuse(call.id, "", at)
    elif has_failed:
        # What a session that is resumed says of a call is no result: it was cut off long ago.
        if not text.startswith(_LOST):
            _fail(chat, call, text, at)
    else:
        _succeed(chat, call, text, as_object(record.get("toolUseResult")), at)


def _is_refusal(record: Record, text: str, *, has_failed: bool) -> bool:
    if kind := as_text(record.get("toolDenialKind")):
        return kind == "user-rejected"
    return has_failed and _REJECTED.match(text) is not None


def _succeed(chat: Conversation, call: OpenCall, text: str, kept: Record, at: float | None) -> None:
    if call.sub_agent is not None:
        name = kept.get("agentId")
        if isinstance(name, str) and _AGENT_ID.fullmatch(name):
            chat.name_sub_agent(call.id, name)
        if kept.get("isAsync") is True or kept.get("status") == "async_launched":
            end_sub_agent(call, math.inf)
    # Of a command that was stopped, or that goes on, nobody knows how it ended.
    is_unknown = call.command and (kept.get("interrupted") or kept.get("backgroundTaskId"))
    ok = None if is_unknown else True
    has_status = call.command and ok and not kept.get("returnCodeInterpretation")
    chat.result(call.id, text, ok=ok, at=at, exit_code=0 if has_status else None)


def _fail(chat: Conversation, call: OpenCall, text: str, at: float | None) -> None:
    call.edits = ()
    refused = _TOOL_ERROR.match(text)
    code = _EXIT.match(text) if call.command else None
    # Without one it did not even run: a missing argument, a file that was not read before.
    error = refused[1].strip() if refused else text
    if text.startswith(INTERRUPTED):
        chat.result(call.id, "", ok=None, at=at)
        return
    call.error = excerpt(error)
    if is_cancelled(call.error):
        chat.result(call.id, "", ok=None, at=at)
    elif code:
        chat.result(call.id, text[code.end() :], ok=False, at=at, exit_code=int(code[1]))
    elif call.command and not refused and _TIMED_OUT.search(text[:_HEAD]):
        chat.result(call.id, text, ok=False, at=at, exit_code=_TIMED_OUT_CODE)
    else:
        chat.result(call.id, "", ok=False, at=at)


def end_sub_agent(call: OpenCall, at: float) -> None:
    """Note when the sub-agent that works in the background ended."""
    if call.sub_agent is not None:
        call.sub_agent = msgspec.structs.replace(call.sub_agent, ended_at=at)


def failed_call(
    name: str, tool: str, arguments: Mapping[str, Any], error: str, folder: str
) -> RunCall:
    """Return a call that a hook says has failed, as the transcript will have it.

    Args:
        name: the id of the call.
        tool: the tool.
        arguments: its arguments.
        error: the text of its error, as the model reads it.
        folder: the folder that the shell is in.
    """
    chat = Conversation(NAME, TOOLS)
    asked = {"id": name or "#", "name": tool, "input": arguments}
    call = take_call(chat, asked, None, folder)
    assert call is not None  # noqa: S101 - it has an id
    take_result(chat, call, {"content": error, "is_error": True}, {}, None)
    return msgspec.structs.replace(call.finished(), id=name)
