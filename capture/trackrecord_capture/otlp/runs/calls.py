"""Calls of tools, read from spans or events."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from ...agent_run import RunCall
from ..facts import vocabulary
from ..facts.fact import Fact
from ..facts.results import ResultEvidence, told_by
from ..facts.values import document
from ..facts.vocabulary import SpanKind

# Wrappers around what the tool was given: LangChain's callback, smolagents' forwarded call.
_INPUTS: Final = ("input_str", "inputs", "input")
_COMMANDS: Final = ("command", "cmd", "commands", "script", "input")
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
    if _plain(tool) not in vocabulary.SHELLS:
        return ""
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, Mapping):
        for name in _COMMANDS:
            held = arguments.get(name)
            if isinstance(held, str) and held:
                return held
            if isinstance(held, list) and held:
                return _in_one_line([str(word) for word in held])
    return ""


def _in_one_line(words: list[str]) -> str:
    """Return an argument vector as a command line; for a shell with -c, its script."""
    if len(words) >= 3 and words[-2] in ("-c", "-lc"):
        return words[-1]
    return " ".join(words)


def edits_in(tool: str, arguments: object) -> tuple[str, ...]:
    """Return the files that a call of an editing tool changes."""
    if _plain(tool) not in vocabulary.EDITORS or not isinstance(arguments, Mapping):
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


_REJECTED: Final = ("reject", "rejected", "deny", "denied", "abort")
# Two instrumentations start and end their spans of one call this far apart, at most.
_SLACK_S: Final = 0.25
_SLACK_OF_IDS_S: Final = 5.0
# How many calls of one tool are compared with the next one: so many run at once at most.
_MOST_AT_ONCE: Final = 64


class SpanCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call, with the data that identifies it across instrumentations.

    Attributes:
        call: the call.
        scopes: the instrumentations that told of it.
        spans: the spans that told of it.
        rejected: whether the person refused it.
    """

    call: RunCall
    scopes: frozenset[str]
    spans: tuple[str, ...]
    rejected: bool = False

    @property
    def start(self) -> float:
        """The start of the call; seconds since the epoch."""
        return self.call.started_at or 0.0

    @property
    def end(self) -> float:
        """The end of the call."""
        return self.start + (self.call.duration_ms or 0.0) / 1000


def is_call(fact: Fact) -> bool:
    """Return whether a fact is a tool call, and not how a framework ends or delegates a run."""
    if fact.kind is not SpanKind.TOOL or not fact.tool:
        return False
    tool, name = fact.tool.lower(), fact.name.lower()
    # A name in parentheses is none that a model can call: so ADK sums up calls that ran at once.
    if fact.error_type.rpartition(".")[2] in vocabulary.PAUSES:
        return False
    if tool in vocabulary.FINAL_TOOLS or tool == vocabulary.HANDOFF or tool.startswith("("):
        return False
    return not tool.startswith(vocabulary.HANDOFFS) and not name.startswith(vocabulary.HANDOFFS)


def call_seen(fact: Fact, details: Sequence[Fact], actor: str = "agent") -> SpanCall:
    """Return a span's call, completed from the spans below it."""
    told = told_by(fact.result) if fact.result is not None else None
    arguments = arguments_in(fact.arguments) if fact.arguments is not None else None
    rejected = any(detail.decision.lower() in _REJECTED for detail in (fact, *details))
    # What the person did not allow neither failed nor changed anything.
    ok = None if rejected else _ok(fact, details, told)
    command = fact.command or command_in(fact.tool, arguments)
    edits = edits_in(fact.tool, arguments) or edits_in(fact.tool, {"path": fact.edited})
    call = RunCall(
        tool=fact.tool,
        id=fact.call or (told.call if told else ""),
        arguments=arguments,
        command=command,
        edits=() if rejected else edits,
        ok=ok,
        exit_code=_exit_code(fact, details, told),
        error=_error(fact, details, told) if ok is False else "",
        result=told.text if told else "",
        started_at=fact.start or None,
        duration_ms=max(0.0, (fact.end - fact.start) * 1000) if fact.start and fact.end else None,
        actor=actor,
    )
    return SpanCall(
        call=call,
        scopes=frozenset({fact.scope}),
        spans=(fact.span, *(detail.span for detail in details)),
        rejected=rejected,
    )


def _ok(fact: Fact, details: Sequence[Fact], told: ResultEvidence | None) -> bool | None:
    if any(has_failed(part) for part in (fact, *details)) or (told and told.failed):
        return False
    if told is not None or any(part.failed is False for part in (fact, *details)):
        return True
    return True if fact.scope.startswith(vocabulary.SETS_ERRORS) else None


def has_failed(fact: Fact) -> bool:
    """Return whether a span says, in whichever way, that it failed."""
    return (
        fact.status == "error"
        or bool(fact.error_type)
        or fact.failed is True
        or fact.exit_code not in (None, 0)
    )


def _exit_code(fact: Fact, details: Sequence[Fact], told: ResultEvidence | None) -> int | None:
    for part in (fact, *details):
        if part.exit_code is not None:
            return part.exit_code
    return told.exit_code if told else None


def _error(fact: Fact, details: Sequence[Fact], told: ResultEvidence | None) -> str:
    for part in (fact, *details):
        if part.error:
            return part.error
    if told and told.error:
        return told.error
    return next((part.error_type for part in (fact, *details) if part.error_type), "")


def merged(calls: Iterable[SpanCall]) -> list[SpanCall]:
    """Return each call once, in the order of their start, however often it was reported."""
    kept: list[SpanCall] = []
    by_tool = sorted(calls, key=lambda seen: (seen.call.tool, seen.start, seen.spans))
    for _, same_tool in groupby(by_tool, key=lambda seen: seen.call.tool):
        kept += _merged_of_tool(list(same_tool))
    return sorted(kept, key=lambda seen: (seen.start, seen.spans))


def _merged_of_tool(calls: list[SpanCall]) -> list[SpanCall]:
    kept: list[SpanCall] = []
    for seen in calls:
        recent = range(max(0, len(kept) - _MOST_AT_ONCE), len(kept))
        same = next((at for at in recent if _are_one(kept[at], seen)), None)
        if same is None:
            kept.append(seen)
        else:
            kept[same] = _joined(kept[same], seen)
    return kept


def _are_one(one: SpanCall, other: SpanCall) -> bool:
    """Return whether two instrumentations reported one call; one alone never reports it twice.

    An id alone proves nothing: models in tests, and some others, give the same one again and again.
    """
    if one.scopes & other.scopes:
        return False
    apart = max(one.start, other.start) - min(one.end, other.end)
    if one.call.id and other.call.id:
        return one.call.id == other.call.id and apart <= _SLACK_OF_IDS_S
    return apart <= _SLACK_S and _alike(one.call.arguments, other.call.arguments)


def _alike(one: Any, other: Any) -> bool:  # noqa: ANN401 - arguments of any shape
    """Return whether arguments are the same, where one side may have only the bare values."""
    return one is None or other is None or one == other or _bare(one) == _bare(other)


def _bare(arguments: Any) -> list[str]:  # noqa: ANN401 - as above
    values = list(arguments.values()) if isinstance(arguments, dict) else [arguments]
    return sorted(map(str, values))


def _joined(one: SpanCall, other: SpanCall) -> SpanCall:
    """Return what two tellers know of a call; the more detailed one leads."""
    lead, rest = sorted((one.call, other.call), key=_detail, reverse=True)
    rejected = one.rejected or other.rejected
    failed = not rejected and (one.call.ok is False or other.call.ok is False)
    known = True if not rejected and (lead.ok or rest.ok) else None
    call = msgspec.structs.replace(
        lead,
        id=lead.id or rest.id,
        arguments=lead.arguments if lead.arguments is not None else rest.arguments,
        command=lead.command or rest.command,
        edits=() if rejected else lead.edits or rest.edits,
        ok=False if failed else known,
        exit_code=lead.exit_code if lead.exit_code is not None else rest.exit_code,
        error=(lead.error or rest.error) if failed else "",
        result=lead.result or rest.result,
        duration_ms=lead.duration_ms if lead.duration_ms is not None else rest.duration_ms,
        sub_agent=lead.sub_agent or rest.sub_agent,
        actor=lead.actor if lead.actor != "agent" else rest.actor,
    )
    return SpanCall(
        call=call,
        scopes=one.scopes | other.scopes,
        spans=(*one.spans, *other.spans),
        rejected=rejected,
    )


def _detail(call: RunCall) -> tuple[bool, bool, bool, float]:
    return (
        isinstance(call.arguments, dict),
        bool(call.result),
        bool(call.id),
        -(call.started_at or 0.0),
    )
