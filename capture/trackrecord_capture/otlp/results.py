"""The result of a call, from its output: a span's status alone is often wrong.

Rules that follow from spans of real frameworks: an error status, an error type, an exception or a
word such as `gen_ai.tool.status=error` means failure; so does a result that says so in its own
words (an exit code, `{"status": "error"}`). A status that is not an error means success only where
the result was seen, or where the instrumentation is known to set an error whenever a tool raised.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .values import as_exit_code, as_text, document

# At the start of a line; how deep into the text a tool's own header may reach.
_EXIT: Final = re.compile(
    r"^(?:process exited with (?:exit )?code|exit(?:ed with)? code|exit status|"
    r"command (?:failed|exited) with (?:exit )?code|return ?code)\s*[:=]?\s*(-?\d{1,10})\b",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER_CHARS: Final = 400
# How frameworks hand an exception to the model as if it were a result.
_ERROR_TEXT: Final = re.compile(
    r"(?:error:|error executing tool\b|error (?:running|calling) tool\b|"
    r"an error occurred while running the tool|traceback \(most recent call last\))",
    re.IGNORECASE,
)
_EXIT_NAMES: Final = ("exit_code", "exitCode", "exit", "returncode", "return_code", "exit_status")
_FAILED_WORDS: Final = frozenset({"error", "failed", "failure", "fail"})
_HOLDERS: Final = ("metadata", "output", "data", "kwargs", "result", "structuredContent")
_ERRORS: Final = ("error", "error_message", "message", "stderr", "content", "output", "detail")
_PRINTED: Final = ("output", "stdout", "stderr", "content")
_DEEPEST: Final = 3


class ResultEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence in a result on its call.

    Attributes:
        text: the result itself, without its wrapping.
        failed: whether it says that the call failed; None if it does not say.
        exit_code: the exit status that it names.
        error: the error that it names; "" if it names none.
        call: the call's id, where only the wrapping has it.
    """

    text: str
    failed: bool | None = None
    exit_code: int | None = None
    error: str = ""
    call: str = ""


def told_by(text: str) -> ResultEvidence:
    """Read a result."""
    value = document(text)
    if not isinstance(value, Mapping):
        plain = value if isinstance(value, str) else text  # DSPy's is a JSON string
        return _told_by_text(_text_of_parts(value) or plain)
    message = _tool_message(value, _DEEPEST)
    if message is None:
        return _told_by_document(value, text)
    content = as_text(message.get("content") or "")
    inner = (
        told_by(content)
        if not isinstance(document(content), Mapping)
        else ResultEvidence(text=content)
    )
    failed = inner.failed or (True if message.get("status") == "error" else None)
    return msgspec.structs.replace(
        inner,
        failed=failed,
        error=inner.error or (content if failed else ""),
        call=as_text(message.get("tool_call_id") or ""),
    )


def _text_of_parts(value: object) -> str:
    """Return the text of a result that came in parts, as MCP and Strands have it."""
    if not isinstance(value, list) or not all(isinstance(part, Mapping) for part in value):
        return ""
    return "\n".join(part["text"] for part in value if isinstance(part.get("text"), str))


def _tool_message(value: Mapping[Any, Any], depth: int) -> Mapping[Any, Any] | None:
    """Return LangChain's message of a tool, which it wraps in up to three other objects."""
    if "tool_call_id" in value and "content" in value:
        return value
    if depth:
        for name in ("data", "output", "kwargs", "outputs"):
            held = value.get(name)
            if isinstance(held, Mapping) and (found := _tool_message(held, depth - 1)):
                return found
    return None


def _told_by_text(text: str) -> ResultEvidence:
    found = _EXIT.search(text[:_HEADER_CHARS]) or _EXIT.match(text.rstrip().rpartition("\n")[2])
    if found is None:
        failed = _ERROR_TEXT.match(text.lstrip()[:_HEADER_CHARS]) is not None
        return (
            ResultEvidence(text=text, failed=True, error=text)
            if failed
            else ResultEvidence(text=text)
        )
    code = int(found[1])
    _, header, output = text.partition("\nOutput:\n")  # Codex puts a header before it
    return ResultEvidence(
        text=output if header else text,
        failed=code != 0,
        exit_code=code,
        error=(output or text) if code else "",
    )


def _told_by_document(value: Mapping[Any, Any], text: str) -> ResultEvidence:
    code = _exit_code(value, _DEEPEST)
    failed = code != 0 if code is not None else _says_failed(value)
    plain = value.get("output") or _text_of_parts(value.get("content") or value.get("blocks"))
    shown = plain if isinstance(plain, str) and plain else text
    if code is not None and _printed_nothing(value):
        shown = ""
    if failed:
        return ResultEvidence(
            text=shown, failed=True, exit_code=code, error=_error_in(value, shown)
        )
    if failed is None and shown is plain:
        return _told_by_text(shown)
    return ResultEvidence(text=shown, failed=failed, exit_code=code)


def _printed_nothing(value: Mapping[Any, Any]) -> bool:
    """Return whether a command's result has fields for its output, all of them empty."""
    printed = [value[name] for name in _PRINTED if name in value]
    return bool(printed) and not any(printed)


def _exit_code(value: Mapping[Any, Any], depth: int) -> int | None:
    for name in _EXIT_NAMES:
        found = as_exit_code(value.get(name))
        if found is not None:
            return found
    if depth:
        for name in _HOLDERS:
            held = value.get(name)
            if isinstance(held, Mapping):
                code = _exit_code(held, depth - 1)
                if code is not None:
                    return code
    return None


def _says_failed(value: Mapping[Any, Any]) -> bool | None:
    if value.get("isError") is True or value.get("is_error") is True:
        return True
    if value.get("success") is False or value.get("ok") is False:
        return True
    status = value.get("status")
    if isinstance(status, str) and status.lower() in _FAILED_WORDS:
        return True
    error = value.get("error")
    return True if isinstance(error, (str, Mapping)) and error else None


def _error_in(value: Mapping[Any, Any], shown: str) -> str:
    for name in _ERRORS:
        held = value.get(name)
        if held and not isinstance(held, bool):
            return as_text(held)
    return shown
