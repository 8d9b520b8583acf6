"""Digests of the calls that can be tried again: command lines, their checks, opened files.

Facts about what works in a repository are counted from these. Calls of tools without a command line
or a file are kept where one of them failed: they show what came before, and what became of it.
"""

import re
from functools import lru_cache

import msgspec

from trackrecord.learning.advice.moments.calls import (
    TriedCall,
    TriedCheck,
    TriedRun,
    check_by_name,
    told_line,
    without_home,
)
from trackrecord.learning.text.inert import one_line

from .outcome import Outcome, ToolCall
from .run_digest import MAX_STEPS, error_lines, launcher_of, repository_of

_LONGEST_NAME = 256
_LONGEST_TOOL = 128
_LONGEST_LINE = 300
# Arguments of no more bytes are remembered.
_SHORT_ARGUMENTS = 400
_NOTHING = b""
FOUND_FILES, NO_FILES = "files", "no files"
"""The results of captured searches for files."""
_RESULTS = {msgspec.json.encode(FOUND_FILES): True, msgspec.json.encode(NO_FILES): False}
_PATTERN = re.compile(r"[\w.@+*?{},\[\]()/\\-]{1,100}")


class _Digest(msgspec.Struct, array_like=True, gc=False):
    session: str
    machine: str
    repository: str
    calls: tuple[TriedCall, ...]


class _Arguments(msgspec.Struct, gc=False):
    command: str | None = None
    cmd: str | None = None
    file_path: str | None = None
    path: str | None = None
    filePath: str | None = None  # noqa: N815 - as opencode spells it
    notebook_path: str | None = None
    filename: str | None = None
    pattern: str | None = None

    @property
    def line(self) -> str:
        return self.command or self.cmd or ""

    @property
    def file(self) -> str:
        return (
            self.file_path
            or self.path
            or self.filePath
            or self.notebook_path
            or self.filename
            or ""
        )


class _Metadata(msgspec.Struct, gc=False):
    session: str = ""
    machine: str = ""


class _Body(msgspec.Struct, gc=False):
    metadata: msgspec.Raw = msgspec.Raw(b"{}")


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Digest)
_arguments = msgspec.json.Decoder(_Arguments)
_metadata = msgspec.json.Decoder(_Metadata)
_bodies = msgspec.json.Decoder(_Body)


def tried_digest(outcome: Outcome) -> bytes:
    """Return the digest of an outcome's calls that can be tried again; b"" if it has none.

    Of a very long run the first and the last calls.
    """
    graph = outcome.tool_graph
    if not graph:
        return _NOTHING
    calls = tuple(_calls(graph, is_captured=outcome.captured_from is not None))
    if not calls:
        return _NOTHING
    if len(calls) > MAX_STEPS:
        calls = (*calls[: MAX_STEPS // 2], *calls[-(MAX_STEPS // 2) :])
    metadata = _metadata_of(outcome.metadata)
    return _encoder.encode(
        _Digest(
            metadata.session[:_LONGEST_NAME],
            metadata.machine[:_LONGEST_NAME],
            repository_of(outcome.metadata),
            calls,
        )
    )


def session_of(body: bytes) -> str:
    """Return the session that an outcome's body names; "" for none."""
    if b'"session"' not in body:
        return ""
    return _metadata_of(_bodies.decode(body).metadata).session[:_LONGEST_NAME]


def check_tried(digest: bytes) -> None:
    """Raise ValueError unless something is a digest of calls."""
    _decoder.decode(digest)


def tried_run(digest: bytes, *, outcome: int, ended_at: float, speaker: str = "") -> TriedRun:
    """Return the calls of a digest.

    Args:
        digest: what `tried_digest` returned; not empty.
        outcome: the row of its outcome.
        ended_at: when the run ended, seconds since the epoch.
        speaker: whose word it is.
    """
    read = _decoder.decode(digest)
    return TriedRun(
        outcome=outcome,
        # A run that is part of no session is one of its own.
        session=read.session or f"#{outcome}",
        ended_at=ended_at,
        calls=read.calls,
        repository=read.repository,
        machine=read.machine,
        speaker=speaker,
    )


def _metadata_of(metadata: msgspec.Raw) -> _Metadata:
    said = bytes(metadata)
    if b'"session"' not in said and b'"machine"' not in said:
        return _Metadata()
    try:
        return _metadata.decode(metadata)
    except msgspec.MsgspecError:  # they are of other types: not what we mean by them
        return _Metadata()


def _calls(graph: tuple[ToolCall, ...], *, is_captured: bool) -> list[TriedCall]:
    tried = [(call, tried_call(call, is_captured=is_captured)) for call in graph]
    has_failed = any(found is None and call.ok is False for call, found in tried)
    known = [found or call_of_tool(call) if has_failed else found for call, found in tried]
    return [found for found in known if found is not None]


def call_of_tool(call: ToolCall) -> TriedCall | None:
    """Return a call of which only the tool is known; None without a name."""
    tool = _name((call.tool or "").strip()[:_LONGEST_TOOL])
    if not tool:
        return None
    error = error_lines(call)[1] if call.ok is False else ""
    return TriedCall(tool=tool, at=_moment_of(call), ok=call.ok, error=error)


def _moment_of(call: ToolCall) -> float:
    return call.timestamp if isinstance(call.timestamp, float) else 0.0


def failed_call(tool: str, *, command: str, path: str, error: str) -> TriedCall | None:
    """Return a call that has just failed as its digest would have it; None without a name.

    Args:
        tool: its name.
        command: its command line; "" for a tool without one.
        path: the file that it is about; "" for none.
        error: the text of its error.
    """
    arguments = {"command": command} if command else {"path": path}
    call = ToolCall(
        tool=tool,
        args=msgspec.Raw(msgspec.json.encode(arguments)),
        ok=False,
        error=msgspec.Raw(msgspec.json.encode(error)),
    )
    return tried_call(call, is_captured=False) or call_of_tool(call)


def tried_call(call: ToolCall, *, is_captured: bool) -> TriedCall | None:
    """Return a call as it can be tried again; None if nothing tells which one it is.

    Args:
        call: the call.
        is_captured: whether its checks were read from its command line already.
    """
    said = bytes(call.args)
    read = _known_about if len(said) <= _SHORT_ARGUMENTS else _about
    command, file = read(said)
    tool = _name(call.tool.strip()[:_LONGEST_TOOL]) if call.tool and (command or file) else ""
    if not tool:
        return _search_of(call, said) if is_captured else None
    checks: tuple[TriedCheck, ...] = ()
    if call.checks:
        checks = tuple(TriedCheck(c.kind, c.state, c.line, c.is_whole) for c in call.checks)
    has_failed = call.ok is False or (checks and call.has_started is False)
    error = error_lines(call)[1] if has_failed else ""
    at = _moment_of(call)
    if not command:
        return TriedCall(tool=tool, at=at, ok=call.ok, error=error, file=file)
    line = told_line(command)
    if not checks and not is_captured:
        checks = check_by_name(tool, command, call.ok, error, line)
    return TriedCall(
        tool=tool,
        at=at,
        ok=call.ok,
        line=line,
        launcher=launcher_of(tool, said),
        error=error,
        checks=checks,
    )


def _search_of(call: ToolCall, said: bytes) -> TriedCall | None:
    """Return a search for files by a pattern; None for any other call."""
    found = _RESULTS.get(bytes(call.result))
    if found is None or not (call.ok and call.tool):
        return None
    try:
        pattern = _arguments.decode(said).pattern or ""
    except (msgspec.MsgspecError, RecursionError):  # arguments of another form: no pattern
        return None
    if _PATTERN.fullmatch(pattern) is None:
        return None
    return TriedCall(
        _name(call.tool), at=_moment_of(call), ok=True, sought=without_home(pattern), found=found
    )


def _about(said: bytes) -> tuple[str, str]:
    """Return the beginning of the command line in a call's arguments, or else the file."""
    # Most calls of agents without a shell have neither.
    if not (b'ath"' in said or b'"command"' in said or b'"cmd"' in said or b'"filename"' in said):
        return "", ""
    try:
        arguments = _arguments.decode(said)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return "", ""
    if not arguments.line:
        return "", _file(arguments.file)
    from trackrecord.learning.text.redaction import redacted_beginning

    command = redacted_beginning(arguments.line, _LONGEST_LINE)
    return command, "" if command else _file(arguments.file)


# The same few tools, files and commands come again and again.
_known_about = lru_cache(maxsize=1024)(_about)
_name = lru_cache(maxsize=1024)(one_line)


@lru_cache(maxsize=1024)
def _file(path: str) -> str:
    """Return a path as it may be told; "" for none, and for a very long one."""
    if not path or len(path) > _LONGEST_LINE:
        return ""
    from trackrecord.learning.text.redaction import redacted

    return one_line(without_home(redacted(path)), _LONGEST_LINE)
