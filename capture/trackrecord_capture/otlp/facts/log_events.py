"""Read the events of Claude Code and Codex, which report their work as log records."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, Final

from ..encodings.span import LogRecord
from .fact import Fact, bounded
from .results import told_by
from .values import as_flag, as_number, as_text, document, first_count, first_text, seconds_of
from .vocabulary import SpanKind

CLAUDE: Final = "claude-code"
CODEX: Final = "codex"
_CLAUDE_PREFIX: Final = "claude_code."
_CODEX_PREFIX: Final = "codex."
_ID_CHARS: Final = 256
_NAME_CHARS: Final = 200
# How Claude Code tells an agent that its sub-agent has ended: nobody asks for anything.
_NOTIFICATION: Final = "<task-notification>"
_RATINGS: Final = {"good": True, "great": True, "bad": False, "poor": False}
_REFUSALS: Final = {"reject": "reject", "denied": "denied", "abort": "denied"}


def event_of(record: LogRecord) -> tuple[str, Fact] | None:
    """Return the trace of an event, and its fact; None if it has none.

    An event without a trace gets one that is made of its session and, where it says so, its prompt.
    """
    name = _name(record)
    if name.startswith(_CLAUDE_PREFIX):
        read, agent = _CLAUDE_EVENTS.get(name.removeprefix(_CLAUDE_PREFIX)), CLAUDE
    elif name.startswith(_CODEX_PREFIX):
        read, agent = _CODEX_EVENTS.get(name.removeprefix(_CODEX_PREFIX)), CODEX
    else:
        return None
    session = _text(record.attributes, "session.id", "conversation.id")[:_ID_CHARS]
    if read is None or not session:
        return None
    # The id of a sub-agent stands for that of the prompt, which is its parent's.
    own = ("agent_id",) if agent == CLAUDE else ()
    prompt = _text(record.attributes, *own, "prompt.id", "turn.id", "turn_id")[:_ID_CHARS]
    started_by = _text(record.attributes, "prompt.id")[:_ID_CHARS] if agent == CLAUDE else ""
    if started_by == prompt:
        started_by = ""
    common: dict[str, Any] = {
        "scope": f"{agent} events",
        "name": name,
        "service": agent,
        "session": session,
        "prompt_id": prompt,
        "started_by": started_by,
        "end": seconds_of(record.at_ns),
        "start": seconds_of(record.at_ns),
        "span": _id_of(record, name),
        "model": _text(record.attributes, "model")[:_NAME_CHARS],
    }
    fact = read(record.attributes, common)
    if fact is None:
        return None
    return record.trace_id or _digest(agent, session, prompt), fact


def _name(record: LogRecord) -> str:
    """Return the full name of an event: Claude Code has its prefix only in the body."""
    body = record.body if isinstance(record.body, str) else ""
    if body.startswith(_CLAUDE_PREFIX):
        return body
    # Codex's Rust puts the place in its source into the field that is meant for the name.
    name = as_text(record.attributes.get("event.name") or record.event_name)
    if name.startswith((_CLAUDE_PREFIX, _CODEX_PREFIX)):
        return name
    return _CLAUDE_PREFIX + name if "claude_code" in record.scope else name


def _id_of(record: LogRecord, name: str) -> str:
    """Return an id that is the same when the same event comes again."""
    attributes = record.attributes
    told = (
        name,
        str(record.at_ns),
        _text(attributes, "event.sequence", "tool_result_seq"),
        _text(attributes, "tool_use_id", "call_id"),
    )
    return _digest(*told)


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=16).hexdigest()


def _text(attributes: Mapping[str, Any], *names: str) -> str:
    return first_text(attributes, names)


_Reader = Callable[[Mapping[str, Any], dict[str, Any]], Fact | None]


def _prompt(attributes: Mapping[str, Any], common: dict[str, Any]) -> Fact:
    text = _text(attributes, "prompt", "prompt_text")
    if text.startswith(_NOTIFICATION):
        return Fact(kind=SpanKind.OTHER, **common)
    asked = "" if text == "<REDACTED>" or text == "[REDACTED]" else text
    return Fact(kind=SpanKind.PROMPT, prompt=bounded(asked), **common)


def _model(attributes: Mapping[str, Any], common: dict[str, Any]) -> Fact:
    usd = as_number(attributes.get("cost_usd"))
    return Fact(
        kind=SpanKind.MODEL,
        tokens_in=first_count(attributes, ("input_tokens", "input_token_count")),
        tokens_out=first_count(attributes, ("output_tokens", "output_token_count")),
        usd=usd,
        **common,
    )


def _model_failed(attributes: Mapping[str, Any], common: dict[str, Any]) -> Fact:
    return Fact(
        kind=SpanKind.MODEL,
        failed=True,
        error=bounded(_text(attributes, "error", "error.message")),
        error_type=_text(attributes, "error_type", "status_code")[:_NAME_CHARS],
        **common,
    )


def _claude_tool(attributes: Mapping[str, Any], common: dict[str, Any]) -> Fact | None:
    tool = _text(attributes, "tool_name")
    if not tool:
        return None
    details = document(_text(attributes, "tool_parameters"))
    details = details if isinstance(details, Mapping) else {}
    if tool == "mcp_tool" or _text(details, "mcp_server_name"):
        server, name = _text(details, "mcp_server_name"), _text(details, "mcp_tool_name")
        tool = f"{server}:{name}" if server and name else tool
    went_well = as_flag(attributes.get("success"))
    return Fact(
        kind=SpanKind.TOOL,
        tool=tool[:_NAME_CHARS],
        call=_text(attributes, "tool_use_id")[:_ID_CHARS],
        arguments=bounded(_text(attributes, "tool_input")) or None,
        command=bounded(_text(details, "full_command")),
        failed=None if went_well is None else not went_well,
        error=bounded(_text(attributes, "error")),
        error_type=_text(attributes, "error_type")[:_NAME_CHARS],
        commit=_text(details, "git_commit_id")[:64],
        branch=_text(details, "git_branch")[:_ID_CHARS],
        **_timed(attributes, common),
    )


def _refusal(attributes: Mapping[str, Any], common: dict[str, Any]) -> Fact | None:
    decision = _REFUSALS.get(_text(attributes, "decision").lower())
    if decision is None:
        return None
    return Fact(
        kind=SpanKind.TOOL,
        tool=_text(attributes, "tool_name")[:_NAME_CHARS],
        call=_text(attributes, "tool_use_id", "call_id")[:_ID_CHARS],
        decision=decision,
        **common,
    )


def _survey(attributes: Mapping[str, Any], common: dict[str, Any]) -> Fact | None:
    rating = _RATINGS.get(_text(attributes, "response", "rating").strip().lower())
    return None if rating is None else Fact(kind=SpanKind.OTHER, rated=rating, **common)


def _codex_tool(attributes: Mapping[str, Any], common: dict[str, Any]) -> Fact | None:
    """Read a call; `success` is "true" also for a failed command: its output shows the failure."""
    tool = _text(attributes, "tool_name")
    if not tool:
        return None
    if server := _text(attributes, "mcp_server"):
        tool = f"{server}:{tool}"
    output = _text(attributes, "output")
    told = told_by(output) if output else None
    went_well = as_flag(attributes.get("success"))
    return Fact(
        kind=SpanKind.TOOL,
        tool=tool[:_NAME_CHARS],
        call=_text(attributes, "call_id")[:_ID_CHARS],
        arguments=bounded(_text(attributes, "arguments")) or None,
        result=bounded(output) if output else None,
        failed=True if went_well is False or (told and told.failed) else None,
        **_timed(attributes, common),
    )


def _timed(attributes: Mapping[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    """Return an event's moment as a span of time: it comes when the call has ended."""
    lasted = as_number(attributes.get("duration_ms")) or 0.0
    return common | {"start": max(0.0, common["end"] - max(0.0, lasted) / 1000)}


def _codex_failed_request(attributes: Mapping[str, Any], common: dict[str, Any]) -> Fact | None:
    status = as_number(attributes.get("http.response.status_code"))
    if status is not None and status < 400:
        return _model(attributes, common)
    return _model_failed(attributes, common)


_CLAUDE_EVENTS: Final[dict[str, _Reader]] = {
    "user_prompt": _prompt,
    "tool_result": _claude_tool,
    "tool_decision": _refusal,
    "api_request": _model,
    "api_error": _model_failed,
    "feedback_survey": _survey,
}
_CODEX_EVENTS: Final[dict[str, _Reader]] = {
    "user_prompt": _prompt,
    "tool_result": _codex_tool,
    "tool_decision": _refusal,
    "api_request": _codex_failed_request,
    "sse_event": _model,
}
