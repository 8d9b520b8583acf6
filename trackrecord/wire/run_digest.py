"""Run digests: the part of an outcome that advice is counted from, in a few hundred bytes.

Bodies may have a megabyte; advice reads the newest ten thousand runs of a project at a time. A
digest holds names, the lines of errors that tell, and digests of arguments, never an argument or a
result.
"""

import re
from collections.abc import Set
from functools import lru_cache
from typing import Any
from zlib import crc32

import msgspec
from msgspec.structs import asdict

from trackrecord.learning.advice.runs.failures import error_line, error_template, is_wanted_failure
from trackrecord.learning.advice.runs.runs import NotedRun, Run, RunDigest, RunStep
from trackrecord.learning.competences.episodes.actors import AGENT
from trackrecord.learning.competences.episodes.episodes import in_order
from trackrecord.learning.text.hints import without_hints
from trackrecord.learning.text.inert import one_line

from .outcome import ABSENT, Outcome, ToolCall

# Of more calls than this, the first and the last half.
MAX_STEPS = 400
_LONGEST_TOOL = 128
_LONGEST_NAME = 256
# Where an error that is an object says what went wrong.
_MESSAGES = ("message", "error", "detail")
_NO_ARGUMENTS = frozenset(map(crc32, (b"", b"{}", b"[]", b"null")))
_REPRODUCTION = re.compile("repro|复现".encode(), re.IGNORECASE)
_LONGEST_COMMAND = 16_000
_LONGEST_ERROR = 64 * 1024
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s:'\"]+(?=[/\\])")

_SHELL = "shell:"
_COMMAND_END = re.compile(r"&&|\|\||[;|&\n()]")
_ASSIGNMENTS = re.compile(r"\A(?:[A-Za-z_]\w{0,127}=\S*\s+)+")
# Known words alone: what an agent wrote in front of a command is told to other agents.
_LAUNCHES = re.compile(rb"-m |\b(?:uvx|p?npx|bunx|rtk|nohup|unbuffer|run|exec|x|dlx) ")
_LAUNCHERS = re.compile(
    r"(?:python3?|py) -m|uvx|npx|pnpx|bunx|rtk(?: (?:test|err|summary|proxy))?|nohup|unbuffer"
    r"|(?:uv|poetry|pipenv|pdm|hatch|rye|pixi|pipx|conda|mamba|coverage|devbox|doppler) run"
    r"|(?:npm|pnpm|yarn|bundle|opam|mise|asdf|pyenv|rbenv) exec|(?:npm|bun|mise) x"
    r"|(?:pnpm|yarn) dlx"
    r"|(?:uv|poetry|pipenv|pdm|hatch|rye|pixi) run python3? -m"
)


class _Beginning(msgspec.Struct, array_like=True, gc=False):
    """The first parts of a digest; the others, which are longer, are skipped undecoded."""

    task_id: str
    source: str
    trigger: str
    repository: str
    patterns: tuple[str, ...]


class _UpToSpeaker(_Beginning, array_like=True, gc=False):
    """The parts of a digest up to the speaker; most of them undecoded."""

    steps: msgspec.Raw = ABSENT
    failure_mode: msgspec.Raw = ABSENT
    error_count: msgspec.Raw = ABSENT
    retry_count: msgspec.Raw = ABSENT
    duration_ms: msgspec.Raw = ABSENT
    tokens: msgspec.Raw = ABSENT
    speaker: str = ""


class _Command(msgspec.Struct, gc=False):
    command: str = ""


class _Metadata(msgspec.Struct, gc=False):
    repository: str = ""


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(RunDigest)
_beginnings = msgspec.msgpack.Decoder(_Beginning)
_up_to_speakers = msgspec.msgpack.Decoder(_UpToSpeaker)
_metadata = msgspec.json.Decoder(_Metadata)
_commands = msgspec.json.Decoder(_Command)
_any = msgspec.json.Decoder()


def source_and_patterns(digest: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the agent that ran a digest's run, "" if not reported, and its patterns' slugs."""
    found = _beginnings.decode(digest)
    return found.source, found.patterns


def speaker_of_run(digest: bytes) -> str:
    """Return whose word a digest is."""
    return _up_to_speakers.decode(digest).speaker


def run_digest(outcome: Outcome, patterns: tuple[str, ...]) -> bytes:
    """Return the digest of an outcome.

    Args:
        outcome: the decoded body.
        patterns: the slugs of the patterns that it touches.
    """
    assert outcome.task_id is not None  # noqa: S101 - narrows what Outcome guarantees
    trigger, cost = outcome.trigger, outcome.cost
    graph = outcome.tool_graph or ()
    calls = tuple(in_order(graph))
    # What a check found is no failure of the call.
    found = {id(graph[place]) for place in outcome.deciding_calls}
    decided_by = sorted({name[:_LONGEST_TOOL] for name in outcome.decided_by}) if found else ()
    if len(calls) > MAX_STEPS:
        calls = (*calls[: MAX_STEPS // 2], *calls[-(MAX_STEPS // 2) :])
    return _encoder.encode(
        RunDigest(
            task_id=outcome.task_id,
            source=outcome.source or "",
            trigger=trigger.signal.strip()[:_LONGEST_NAME] if trigger else "",
            repository=repository_of(outcome.metadata),
            patterns=patterns,
            steps=tuple([_step(call, found) for call in calls if call.tool]),
            failure_mode=outcome.failure_mode or "",
            error_count=outcome.error_count,
            retry_count=outcome.retry_count,
            duration_ms=outcome.duration_ms,
            tokens=None
            if cost is None or (cost.tokens_in is None and cost.tokens_out is None)
            else (cost.tokens_in or 0) + (cost.tokens_out or 0),
            speaker=outcome.reported_by,
            decided_by=tuple(decided_by),
        )
    )


def _step(call: ToolCall, found: Set[int]) -> RunStep:
    assert call.tool is not None  # noqa: S101 - the caller asks for it
    error, line = None, ""
    has_started = call.has_started if call.checks else None
    if has_started is False or (call.ok is not True and call.failed):
        said = None if id(call) in found else _error(call)
        if said is not None:
            error, line = _read(said if call.failed else said or _text(call.result))
    arguments = bytes(call.args)
    tool = call.tool.strip()[:_LONGEST_TOOL]
    launcher = launcher_of(tool, arguments) if tool.startswith(_SHELL) else ""
    digest = crc32(arguments)
    if digest in _NO_ARGUMENTS:
        digest = 0
    return RunStep(tool, error, digest, call.actor or AGENT, line, launcher, None, has_started)


def launcher_of(tool: str, arguments: bytes) -> str:
    """Return what starts the command that a shell's call is named after; "" for nothing known.

    Args:
        tool: the name of the call, "shell:" and a command for that of a shell.
        arguments: its arguments as JSON.
    """
    if not tool.startswith(_SHELL):
        return ""
    program = tool[len(_SHELL) :].partition(" ")[0]
    # Most commands begin with it.
    if arguments.startswith(f'{{"command":"{program} '.encode(errors="replace")):
        return ""
    return _launcher(program, arguments)


def error_lines(call: ToolCall) -> tuple[str, str]:
    """Return the template of a failing call's error, and the line that tells of it, inert."""
    said = _error(call)
    return ("", "") if said is None else _read(said or _text(call.result))


@lru_cache(maxsize=1024)
def _launcher(program: str, arguments: bytes) -> str:
    """Return what starts the command that a shell's call is named after; "" for nothing known."""
    if _LAUNCHES.search(arguments[:_LONGEST_COMMAND]) is None:
        return ""
    try:
        line = _commands.decode(arguments).command
    except (msgspec.MsgspecError, UnicodeError):
        return ""
    for command in _COMMAND_END.split(line[:_LONGEST_COMMAND]):
        words = _ASSIGNMENTS.sub("", command.strip()).split()
        places = (n for n, word in enumerate(words) if word.rpartition("/")[2] == program)
        before = words[: next(places, 0)]
        if before:
            return " ".join(before) if _LAUNCHERS.fullmatch(" ".join(before)) else ""
        if words and words[0].rpartition("/")[2] == program:
            return ""
    return ""


# The same few errors come again and again; no more than 4 MB of them are remembered.
@lru_cache(maxsize=1024)
def _read(error: str) -> tuple[str, str]:
    """Return the template of an error, and its significant line, redacted and inert."""
    # Its patterns take long to compile, and who only reads runs needs none of them.
    from trackrecord.learning.text.redaction import redacted

    error = without_hints(error)
    if len(error) > _LONGEST_ERROR:
        error = f"{error[: _LONGEST_ERROR // 2]}\n{error[-_LONGEST_ERROR // 2 :]}"
    line = error_line(redacted(error))
    return error_template(line), one_line(_HOME.sub("~", line))


def _error(call: ToolCall) -> str | None:
    """Return the text of a failing call's error; None if the call was meant to fail."""
    arguments = bytes(call.args)
    # Looked for in the bytes first: hardly any call has it.
    if _REPRODUCTION.search(arguments) or _REPRODUCTION.search((call.tool or "").encode()):
        said = arguments[:_LONGEST_COMMAND].decode(errors="replace")
        if is_wanted_failure(call.tool or "", said):
            return None
    return _text(call.error)


def _text(error: msgspec.Raw) -> str:
    """Return an error as text: its message if it has one, else the whole error."""
    said = bytes(error)
    if said in (b"", b"null"):
        return ""
    try:
        decoded = _any.decode(said)
    except RecursionError:
        return ""
    if isinstance(decoded, dict):
        messages = (decoded.get(name) for name in _MESSAGES)
        fields = (f"{name}: {value}" for name, value in decoded.items())
        decoded = next(filter(None, messages), None) or ", ".join(fields)
    return str(decoded)


def repository_of(metadata: msgspec.Raw) -> str:
    """Return the repository that an outcome's metadata names; "" if they name none."""
    if b'"repository"' not in bytes(metadata):
        return ""
    try:
        return _metadata.decode(metadata).repository.strip()[:_LONGEST_NAME]
    except msgspec.MsgspecError:  # it is another type, or deeper down: not the repository's name
        return ""


def patterns_of(digest: bytes) -> tuple[str, ...]:
    """Return the slugs of the patterns that the outcome of a digest touches."""
    return _decoder.decode(digest).patterns


def run_of(
    digest: bytes,
    *,
    outcome: int,
    ended_at: float,
    success: bool | None,
    instruction: str = "",
    received_at: float | None = None,
) -> NotedRun:
    """Return the run of a digest: a `Run` where it has a verdict.

    Args:
        digest: what `run_digest` returned.
        outcome: the row of its outcome.
        ended_at: when the task ended.
        success: whether it reached its goal; None where nobody knows it.
        instruction: the beginning of the task's text.
        received_at: when it was reported.
    """
    kind: type[NotedRun] = NotedRun if success is None else Run
    read: dict[str, Any] = asdict(_decoder.decode(digest))
    return kind(
        outcome=outcome,
        ended_at=ended_at,
        success=success,
        instruction=instruction,
        received_at=received_at,
        **read,
    )
