"""The settings of what the daemon serves and reads: HTTP, hooks, traces, and how long it keeps."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from trackrecord.learning.numbers.checks import Inner, require

_LONGEST = 36_500


@dataclass(frozen=True)
class RetentionSettings:
    """Numbers of days after which outcomes are removed, a whole day in UTC at a time.

    Attributes:
        bodies_days: after how many days the texts of an outcome are removed: prompts, arguments,
            results and errors of calls. What lessons and commands are counted from stays until
            outcomes_days.
        outcomes_days: after how many days an outcome is removed; what it counts for stays in the
            sums. If unset, outcomes are kept for ever.
    """

    bodies_days: int | None = None
    outcomes_days: int | None = None

    def __post_init__(self) -> None:
        for name in ("bodies_days", "outcomes_days"):
            days = getattr(self, name)
            require(
                days is None or 1 <= days <= _LONGEST,
                f"{name} must lie in 1..{_LONGEST}, not {days}",
            )


Tokens = Annotated[int, Meta(ge=0, le=2000)]


@dataclass(frozen=True)
class HookSettings:
    """The settings of hook answers, and of reading sessions.

    Attributes:
        inject: whether coding agents are handed what earlier runs taught.
        moment: whether a coding agent is told right after a call has failed what is known of it;
            with "record" it is only recorded what would have been told.
        session_tokens: budget, in tokens, of what an agent is handed when a session starts; 0 for
            nothing.
        prompt_tokens: budget, in tokens, of what an agent is handed with the first prompt of a
            session; 0 for nothing.
        settle_s: how long a session's log must stay unchanged before it is read; agents write it
            with a delay.
        settle_max_s: how long is waited for that at most.
        catch_up_s: how often the logs of installed agents are searched for sessions that ended
            without a hook.
    """

    inject: bool = True
    moment: Literal["true", "record", "false"] = "true"
    session_tokens: Tokens = 120
    prompt_tokens: Tokens = 400
    settle_s: Inner[float] = 0.5
    settle_max_s: Inner[float] = 10.0
    catch_up_s: Annotated[float, Meta(ge=1, le=86_400)] = 300.0


_MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class TraceRules:
    """The rules of the buffer of traces.

    Attributes:
        settle_s: how long a trace is waited for after its root ended: the other spans may come from
            other processes, in batches of their own.
        idle_s: how long a trace whose root has not come is waited for after its last span.
        keep_s: how long a trace is kept after its last span, for late spans, and for what goes on
            after a person's answer.
        max_traces: maximum number of traces that are kept.
        max_trace_bytes: maximum size of one trace; what goes beyond it is rejected.
        max_bytes: maximum size of all traces on disk. Beyond it exporters are asked to wait.
    """

    settle_s: Inner[float] = 3.0
    idle_s: Annotated[float, Meta(ge=0)] = 300.0
    keep_s: Inner[float] = 86_400.0
    max_traces: Inner[int] = 10_000
    max_trace_bytes: Inner[int] = 16 * _MIB
    max_bytes: Inner[int] = 256 * _MIB


_SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class HttpSettings:
    """The address of the HTTP server, and who may use it.

    Attributes:
        host: address to listen on. For an address that other machines can reach, a token must be
            made first: `token`, or one that `trackrecord token create` made.
        port: port to listen on; 0 for any free port.
        token: the server's own token, for everything in every project, in place of the one that
            it makes for itself; at least 16 characters.
        open_to_local_users: let every user and every program of this machine read and decide
            everything without a token. Only for a machine with one user.
        names: with `open_to_local_users`, further host names under which the server may be
            addressed without a token, for example `["host.docker.internal"]`.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 4318
    token: str | None = field(default=None, repr=False)
    open_to_local_users: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(bool(self.host.strip()), "host must not be blank")
        require(
            self.token is None or len(self.token.strip()) >= _SHORTEST_TOKEN,
            f"token must have at least {_SHORTEST_TOKEN} characters",
        )
        require(
            self.token is None or not self.open_to_local_users,
            "open_to_local_users contradicts token: unset one of them",
        )
