"""An outcome on the wire: decode bodies into outcomes, and refuse invalid ones.

Everything that comes from outside is checked here, once; behind it an Outcome can be trusted.
"""

import re
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from trackrecord.errors import InvalidOutcome
from trackrecord.learning.numbers.speaker_names import LOCAL, PERSON, TOKEN, speaker_named
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName

from .storable import encoded

WIRE_VERSION = "1"
MAX_BODY_BYTES = 1024 * 1024

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
TaskId = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
Label = Annotated[str, msgspec.Meta(max_length=256)]
# Integers beyond 2^53 do not survive JSON in most languages, nor SQL sums for long.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
Moment = str | float
# Every criterion is a row in the store: a body of a megabyte must not make tens of thousands.
Criteria = Annotated[
    dict[Name, Literal["helpful", "harmful", "neutral"]], msgspec.Meta(max_length=100)
]
# What was read to report a run, the most detailed first.
CapturedFrom = Literal["transcript", "plugin", "hooks", "traces", "repository"]
MAX_COMMITS = 100
Commit = Annotated[str, msgspec.Meta(min_length=7, max_length=64)]
# Undecoded JSON that was not given.
ABSENT = msgspec.Raw()
# Checks that were seen and that a verdict does not rest on.
_UNDECIDED = frozenset({
    "check without a result", "check not run again", "check before the last edit",
})  # fmt: skip
# As seconds the year 5138: a larger number counts a smaller unit, as JavaScript's Date.now() does.
_BEYOND_SECONDS = 1e11
_UNITS_PER_SECOND = (1.0, 1e3, 1e6, 1e9)


# Kinds of grounds and names of tools come again and again.
@lru_cache(maxsize=4096)
def _is_check(name: str) -> bool:
    # An agent that publishes does not need it.
    from trackrecord.learning.competences.episodes.checks import is_check

    return is_check(name)


class CallCheck(msgspec.Struct, frozen=True, gc=False):
    """A check that a call's command line ran, or failed to start.

    Attributes:
        kind: what it checks; "check" for several of these at once.
        state: "passed"; "ran" with another result, or one that is not known; or "not started".
        line: the command line that runs this check alone; "" where it takes more than a check, or
            must not be shown.
        is_whole: whether it runs on all that its program would run on.
    """

    kind: Literal["test", "lint", "type check", "build", "check"]
    state: Literal["passed", "ran", "not started"] | None = None
    line: Annotated[str, msgspec.Meta(max_length=300)] = ""
    is_whole: bool = False


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """One call of a tool, as the agent made it; arguments and results stay undecoded."""

    tool: str | None = None
    id: str | int | None = None
    args: msgspec.Raw = ABSENT
    result: msgspec.Raw = ABSENT
    ok: bool | None = None
    error: msgspec.Raw = ABSENT
    duration_ms: Amount | None = None
    timestamp: Moment | None = None
    depends_on: tuple[str | int, ...] | None = None
    actor: Label | None = None
    checks: Annotated[tuple[CallCheck, ...], msgspec.Meta(max_length=8)] | None = None

    @property
    def has_started(self) -> bool | None:
        """Return whether its checks started, as far as that was seen; None if nothing is known."""
        states = {check.state for check in self.checks} - {None} if self.checks else None
        return "not started" not in states if states else None

    @property
    def failed(self) -> bool:
        """Return whether the call failed."""
        return self.ok is False or (self.ok is None and bytes(self.error) not in (b"", b"null"))


class Trigger(msgspec.Struct, frozen=True):
    """The trigger of a task: an intent label or an error signature."""

    signal: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
    conditions: msgspec.Raw = ABSENT


class Process(msgspec.Struct, frozen=True):
    """Counts of events during the task."""

    reviews: Count | None = None
    rejections: Count | None = None
    test_fail_loops: Count | None = None
    hard_limit_hits: Count | None = None


class Cost(msgspec.Struct, frozen=True):
    """The cost of the task."""

    tokens_in: Count | None = None
    tokens_out: Count | None = None
    usd: Amount | None = None


GroundKind = Literal[
    "evaluated", "confirmed", "undone", "amended", "reverted", "next prompt", "check passed",
    "check failed", "check without a result", "check not run again", "check before the last edit",
    "no check", "only looked", "interrupted", "rejected", "crashed",
    "ended in the middle of a call", "api failed", "nothing seen",
]  # fmt: skip
"""The kinds of evidence that trackrecord finds itself; who reports grounds may name others."""


class Ground(msgspec.Struct, frozen=True):
    """One reason for the verdict of a captured run."""

    kind: Label
    says: Annotated[str, msgspec.Meta(max_length=1024)] = ""
    call: Count | None = None


class Outcome(msgspec.Struct, kw_only=True):
    """The outcome of one task.

    Attributes are those of the wire format; `success` is None where nobody knows it, `task_id` is
    set whichever name the producer used, and `timestamp` is seconds since the epoch, or None for
    "when it was received". `judged_by` is set by `trackrecord amend` alone, `amended_by` by `join`
    alone, `thinned` by retention alone: `decode_reported` refuses them.
    """

    success: bool | None
    task_id: TaskId | None = None
    bead_id: TaskId | None = None
    outcome_id: Name | None = None
    project: ProjectName = DEFAULT_PROJECT
    timestamp: Moment | None = None
    duration_ms: Count | None = None
    error_count: Count | None = None
    retry_count: Count | None = None
    source: Label | None = None
    reporter: Label | None = None
    outcome_source: Literal["explicit", "evaluator", "tests", "heuristic"] = "explicit"
    strategy: Annotated[str, msgspec.Meta(max_length=1024)] | None = None
    description: str | None = None
    patterns: tuple[Annotated[str, msgspec.Meta(max_length=1024)], ...] | None = None
    trigger: Trigger | None = None
    instruction: str | None = None
    tool_graph: tuple[ToolCall, ...] | None = None
    files_touched: tuple[str, ...] | None = None
    criteria: Criteria | None = None
    failure_mode: Label | None = None
    failure_details: str | None = None
    competence_id: Label | None = None
    memory_ids: tuple[str, ...] | None = None
    process: Process | None = None
    cost: Cost | None = None
    grounds: Annotated[tuple[Ground, ...], msgspec.Meta(max_length=100)] | None = None
    captured_from: CapturedFrom | None = None
    commits: Annotated[tuple[Commit, ...], msgspec.Meta(max_length=MAX_COMMITS)] | None = None
    judged_by: Label | None = None
    amended_by: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    # What its body was known by before retention took the texts out, in hexadecimal.
    thinned: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")] | None = None
    metadata: msgspec.Raw = ABSENT

    def __post_init__(self) -> None:
        if self.task_id is None:
            if self.bead_id is None:
                message = "task_id is missing"
                raise ValueError(message)
            self.task_id = self.bead_id
        moment = self.timestamp
        # Nearly always a number that needs no more than a glance.
        if moment is not None and not (moment.__class__ is float and 0 <= moment < _BEYOND_SECONDS):
            self.timestamp = epoch_seconds(moment)
        if self.metadata is not ABSENT and bytes(self.metadata)[:1] not in (b"", b"{", b"n"):
            message = "metadata must be an object"
            raise ValueError(message)

    @property
    def reported_by(self) -> str:
        """Return the speaker of the run's own report, see `speaker`."""
        if self.reporter == LOCAL or (self.captured_from is not None and not self.reporter):
            return LOCAL
        if self.reporter:
            return f"{TOKEN}{self.reporter}"
        return speaker_named(self.source)

    @property
    def speaker(self) -> str:
        """The one whose word the verdict is: a person, another source, or who reported the run.

        Agents whose sessions are read on this machine speak as one: they have one user.
        """
        if self.judged_by is not None:
            return PERSON
        return self.reported_by if self.amended_by is None else self.amended_by

    @property
    def is_claim(self) -> bool:
        """Return whether the verdict is only the agent's word, or a guess: no test, no person."""
        if self.outcome_source == "explicit":
            return self.captured_from is None and self.judged_by is None
        return self.outcome_source == "heuristic"

    @property
    def deciding_calls(self) -> frozenset[int]:
        """Return the positions in `tool_graph` of the checks behind the verdict; mostly none.

        What decided stands first among the grounds: behind an evaluation, checks decided nothing.
        """
        grounds = self.grounds
        # Another source's grounds name the calls that it saw.
        if not grounds or self.success is None or self.amended_by is not None:
            return frozenset()
        if not _is_check(grounds[0].kind):
            return frozenset()
        return frozenset(
            ground.call
            for ground in grounds
            if ground.call is not None
            and ground.call < len(self.tool_graph or ())
            and ground.kind not in _UNDECIDED
            and _is_check(ground.kind)
        )

    @property
    def decided_by(self) -> frozenset[str]:
        """Return the tools that do not explain the verdict, because it rests on their results.

        These are the tools of the deciding calls, and with them all checks of the run: whether one
        ran again after the last edit depends on what it had found before.
        """
        deciding = self.deciding_calls
        if not deciding:
            return frozenset()
        named = [(call.tool or "").strip() for call in self.tool_graph or ()]
        return frozenset(
            name
            for place, name in enumerate(named)
            if name and (place in deciding or _is_check(name))
        )

    @property
    def explaining_calls(self) -> tuple[ToolCall, ...]:
        """The calls that may explain how it went: those of other tools than `decided_by`."""
        calls, decided_by = self.tool_graph or (), self.decided_by
        if not decided_by:
            return calls
        return tuple(call for call in calls if (call.tool or "").strip() not in decided_by)

    def ended_at(self, received_at: float) -> float:
        """Return when the task ended; a time in the future becomes the time of receipt."""
        if self.timestamp is None:
            return received_at
        assert isinstance(self.timestamp, float)  # noqa: S101 - narrows what __post_init__ set
        return min(self.timestamp, received_at)


def epoch_seconds(moment: Moment) -> float:
    """Return the seconds since the epoch of a moment: ISO 8601 with an offset, or a number.

    A number counts seconds, or milliseconds, microseconds or nanoseconds where it is too large to
    count anything larger.

    Raises:
        ValueError: the moment is malformed, has no offset, or lies before 1970.
    """
    seconds = _parsed(moment) if isinstance(moment, str) else _in_seconds(float(moment))
    if seconds < 0:
        message = "timestamp lies before 1970"
        raise ValueError(message)
    return seconds


def _parsed(text: str) -> float:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        message = "timestamp must be ISO 8601 with an offset, or epoch seconds"
        raise ValueError(message) from None
    if parsed.tzinfo is None:
        message = "timestamp has no offset: append Z or +00:00"
        raise ValueError(message)
    return parsed.timestamp()


def _in_seconds(number: float) -> float:
    for units in _UNITS_PER_SECOND:
        if number < _BEYOND_SECONDS * units:
            return number / units
    return number


_decoder = msgspec.json.Decoder(Outcome)
# An escaped NUL whose backslash is not itself escaped.
_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
# JSON up to its first escaped surrogate that has no partner; possessive, so that it is linear.
_UP_TO_LONE_SURROGATE = re.compile(
    r"(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])|\\u[dD][89abAB]..\\u[dD][c-fC-F]..)*+", re.DOTALL
)
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def decode_outcome(body: bytes, *, max_bytes: int = MAX_BODY_BYTES) -> Outcome:
    """Decode and check one body.

    Raises:
        InvalidOutcome: the body is too large, not JSON, not an object, or a field is of the wrong
            type or range. The message never repeats the body's content.
    """
    if len(body) > max_bytes:
        message = f"body has {len(body)} bytes, {max_bytes} are allowed"
        raise InvalidOutcome(message)
    if not body.isascii() and not _is_utf8(body):
        message = "body is not UTF-8"
        raise InvalidOutcome(message)
    if b"\\" in body and b"\\u0000" in body and _ESCAPED_NUL.search(body):
        message = "body contains a NUL character"
        raise InvalidOutcome(message)
    try:
        return _decoder.decode(body)
    except RecursionError:
        message = "body is nested too deeply"
    except msgspec.MsgspecError as error:
        message = _reason(error, body.decode())
    raise InvalidOutcome(message)


def decode_stored(body: bytes) -> Outcome:
    """Decode a body that was small enough when it was recorded, whatever the limit is now.

    Raises:
        InvalidOutcome: as `decode_outcome`, for one that was recorded by a version that took more.
    """
    return decode_outcome(body, max_bytes=len(body))


def decode_reported(body: bytes, *, max_bytes: int = MAX_BODY_BYTES) -> Outcome:
    """Decode and check a body from an untrusted sender.

    Raises:
        InvalidOutcome: as `decode_outcome`; or it claims a judgement that is made elsewhere.
    """
    outcome = decode_outcome(body, max_bytes=max_bytes)
    if outcome.judged_by is not None or outcome.amended_by is not None:
        message = "judged_by and amended_by cannot be reported: use `trackrecord amend`"
        raise InvalidOutcome(message)
    if outcome.thinned is not None:
        message = "thinned cannot be reported: only retention takes texts out of an outcome"
        raise InvalidOutcome(message)
    return outcome


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def without_value(reason: str) -> str:
    """Return a decoder's reason without the value that it quotes; the field is named last."""
    if not reason.startswith("Invalid enum value"):
        return reason
    _, _, field = reason.rpartition(" - at ")
    return f"Not one of the allowed values - at {field}"


def _reason(error: msgspec.MsgspecError, text: str) -> str:
    """Return the error in a body, without repeating any of its content."""
    message = without_value(str(error))
    if isinstance(error, msgspec.ValidationError):
        return message
    proper = _UP_TO_LONE_SURROGATE.match(text)
    if proper and _ESCAPED_SURROGATE.match(text, proper.end()):
        return "body contains a lone surrogate"
    return message


def encode_body(fields: dict[str, Any]) -> bytes:
    """Return one JSON object on one line; values that JSON cannot express become text.

    What cannot be stored is replaced, see `storable`.
    """
    return encoded(_encoder, fields)


def _as_text(value: object) -> object:
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    return str(value)


_encoder = msgspec.json.Encoder(enc_hook=_as_text)
