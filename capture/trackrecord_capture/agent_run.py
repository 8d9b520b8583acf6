"""An agent's run: one prompt or one trace, from start to end, from any source.

Adapters fill this in with what their source says and nothing that they conclude from it: the
verdict, finer names of tools and redaction come later, once for all sources. It never leaves the
process: it holds arguments and results as the source has them, secrets included.
"""

import hashlib
import re
from enum import StrEnum
from typing import Any, Final

import msgspec

from trackrecord.wire.outcome import CapturedFrom

_LONGEST_ID: Final = 128
_DIGEST_BYTES: Final = 16
_CANCELLED: Final = re.compile(
    r"\s*(?:<tool_use_error>\s*)?(?:Error: )?(?:Sibling tool call errored|Cancelled: parallel )"
)


class SubAgent(msgspec.Struct, frozen=True, kw_only=True):
    """The sub-agent that a call concerns.

    Attributes:
        starts: whether the call starts it; else it tells one more, or waits for it.
        kind: its type, as "Explore"; "" if unknown.
        errand: what it is told; "" if unknown.
        ended_at: when it ended, seconds since the epoch, if it works in the background; infinite if
            that is not known. None if it ended with the call.
        id: its own id, as far as the call names it; "" if unknown.
        calls: what it did, if its own recording was read and the run waited for its end; else None.
    """

    starts: bool = False
    kind: str = ""
    errand: str = ""
    ended_at: float | None = None
    id: str = ""
    calls: "tuple[RunCall, ...] | None" = None


class RunCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool.

    Attributes:
        tool: the tool's name, as the agent calls it; for a tool of an MCP server "server:tool".
        id: the source's own id for the call; "" if it has none.
        arguments: the arguments, decoded where the source holds them as JSON; None if unknown.
        command: the command line, if the tool is a shell; "" for any other tool.
        folder: the folder that a command ran in, if the source says so; "" if not.
        edits: the files that the call changed.
        ok: whether it succeeded; None if the source does not say. An adapter looks at exit codes
            and error texts, never at a status alone that its agent is known to set wrongly.
        exit_code: the exit status of a command; None if unknown.
        error: the error's text, if it failed; "" if there is none.
        result: the result as text, or its beginning and end; "" if unknown.
        started_at: seconds since the epoch; None if unknown. Calls stand in this order.
        duration_ms: how long it took; None if unknown.
        actor: "agent", or the name of another agent or "user", where those made the call.
        sub_agent: the sub-agent that the call starts, tells more or waits for; None of other calls.
    """

    tool: str
    id: str = ""
    arguments: Any = None
    command: str = ""
    folder: str = ""
    edits: tuple[str, ...] = ()
    ok: bool | None = None
    exit_code: int | None = None
    error: str = ""
    result: str = ""
    started_at: float | None = None
    duration_ms: float | None = None
    actor: str = "agent"
    sub_agent: SubAgent | None = None


class SignalKind(StrEnum):
    """The kinds of evidence that a source has on a run, apart from its calls."""

    EVALUATED = "evaluated"
    """Somebody scored the run: `success` says how; None if the score has no threshold."""
    CONFIRMED = "confirmed"
    """A person said in so many words whether it succeeded: `success` says which."""
    INTERRUPTED = "interrupted"
    """The person stopped it."""
    REJECTED = "rejected"
    """The person refused a change or a call."""
    UNDONE = "undone"
    """The person took back what it had changed."""
    FOLLOWED_BY = "followed by"
    """The person's next prompt in the same session; `says` holds it."""
    CUT_OFF = "cut off"
    """Its process ended while a call ran: killed, or hung up on."""
    CRASHED = "crashed"
    """The agent itself failed: an exception, a limit of turns or time."""
    API_FAILED = "api failed"
    """The model's API refused or failed: no verdict on the agent."""


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was seen of how a run went.

    Attributes:
        kind: what was seen.
        success: what it says of the run, for the two kinds that say it outright.
        says: in words: the evaluation's name and explanation, the next prompt, the error.
        at: when, seconds since the epoch; None if unknown.
        call: the position in `calls` of the call that it concerns; None if none.
    """

    kind: SignalKind
    success: bool | None = None
    says: str = ""
    at: float | None = None
    call: int | None = None


class AgentRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an agent: from a person's prompt to the end of the agent's turn, or one trace.

    Attributes:
        agent: the source of the outcome: "claude-code", "codex", "opencode", or a service's name.
        session: the id of the session, the thread or the conversation; "" if there is none.
        prompt: the id of the prompt or the turn in the session; without a session the trace's id.
        captured_from: what was read; the more detailed source wins, see `wire.outcome`.
        folder: the absolute path that it worked in; "" if unknown.
        project: the project, where the source names it outright; "" if it does not.
        repository: the address or the name of the repository, if the source says so; "" if not.
        branch: the branch of the repository; "" if unknown.
        instruction: what was asked, in the person's words; "" if unknown.
        calls: its tool calls in the order of their start.
        signs: what was seen of how it went, in order.
        started_at: seconds since the epoch.
        ended_at: seconds since the epoch; of a run that goes on, its last sign of life.
        is_over: whether the source says that it ended; else it may still go on.
        parent: the outcome_id of the run that started it as a sub-agent; "" if none did.
        name: the name or the type of the agent within its framework; "" if unknown.
        model: the model; "" if unknown.
        tokens_in: tokens that the model read; None if unknown.
        tokens_out: tokens that it wrote; None if unknown.
        usd: US dollars; None if unknown.
        commits: the commits that it made, as the source spells them (7 to 40 hexadecimal digits).
        automated: whether a program started it and no person (Claude Code's `entrypoint: sdk-*`).
        record: the id of the record that began it, which every copy of the record keeps, as in the
            fork of a session; "" if copies cannot be told.
        is_copy: whether its log shows that it was copied from another session.
        own_checks: the command lines that its project names as checks, see `CaptureRules.checks`;
            no adapter knows them.
    """

    agent: str
    session: str
    prompt: str
    captured_from: CapturedFrom
    started_at: float
    ended_at: float
    folder: str = ""
    project: str = ""
    repository: str = ""
    branch: str = ""
    instruction: str = ""
    calls: tuple[RunCall, ...] = ()
    signs: tuple[Signal, ...] = ()
    is_over: bool = True
    parent: str = ""
    name: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None
    commits: tuple[str, ...] = ()
    automated: bool = False
    record: str = ""
    is_copy: bool = False
    own_checks: tuple[str, ...] = ()

    @property
    def outcome_id(self) -> str:
        """The same for every source that reports this run."""
        return run_outcome_id(self.agent, self.session, self.prompt)


def is_cancelled(error: str) -> bool:
    """Return whether a call was not carried out because another one of the same answer failed."""
    return _CANCELLED.match(error) is not None


def run_outcome_id(agent: str, session: str, prompt: str) -> str:
    """Return the outcome_id of a run: its agent, its session and its prompt, and nothing else."""
    whole = ":".join(part for part in (agent, session, prompt) if part)
    if len(whole) <= _LONGEST_ID and whole.isprintable():
        return whole
    digest = hashlib.blake2b(whole.encode(errors="replace"), digest_size=_DIGEST_BYTES)
    return f"run:{digest.hexdigest()}"
