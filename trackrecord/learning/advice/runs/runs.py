"""A run: how one task went, reduced to the input of advice.

Advice is a pure function of a set of runs, so that the order of their delivery cannot matter, a run
delivered twice counts once, and a question about the past is answered from the runs of that time.
"""

from collections.abc import Iterable

import msgspec

from ...competences.episodes.actors import AGENT, USER
from .failures import has_not_started


class RunStep(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call of a tool.

    Attributes:
        tool: the tool's name.
        error: None if the call did not fail; otherwise the template of its error, "" if it has
            no message. See `failures.error_template`.
        arguments: a digest of the arguments: equal ones have equal digests; 0 for none.
        actor: who made the call: "agent", "user" or the name of another agent.
        error_line: the line of its error that tells what went wrong, redacted and inert, for people
            of the project; "" without one.
        launcher: of a shell's call, the words before the command that started it, such as "uv run"
            or "python -m"; "" for none.
        has_started: whether the check that it runs is known to have started; None if nothing is
            known but the text of an error.
    """

    tool: str
    error: str | None = None
    arguments: int = 0
    actor: str = AGENT
    error_line: str = ""
    launcher: str = ""
    # Here landed states noted what is told no more.
    _gone: bytes | None = None
    has_started: bool | None = None

    @property
    def failed(self) -> bool:
        """Return whether the call failed."""
        return self.error is not None

    @property
    def is_stuck(self) -> bool:
        """Return whether the call failed because its program did not even start."""
        if self.error is None or self.has_started is not None:
            return self.has_started is False
        return has_not_started(self.error)


class RunDigest(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The course of one task as it is stored; further fields come last.

    Attributes:
        task_id: the task. Several runs of one task differ in how they went about it.
        source: the agent that ran it; "" if not reported.
        trigger: the signal of its trigger; "" if not reported.
        repository: the repository it worked in; "" if not reported.
        patterns: the slugs of the patterns that it touches.
        steps: the calls of its tools, in order; of a very long run the first and the last ones.
        failure_mode: how it failed; "" if not reported.
        error_count: its errors, None if not reported.
        retry_count: its retries, None if not reported.
        duration_ms: how long it took, None if not reported.
        tokens: what it used of a model's tokens, in and out; None if not reported.
        speaker: whose word all this is.
        decided_by: the tools of the checks that its verdict rests on, and its other checks with
            them: they cannot explain it.
    """

    task_id: str
    source: str = ""
    trigger: str = ""
    repository: str = ""
    patterns: tuple[str, ...] = ()
    steps: tuple[RunStep, ...] = ()
    failure_mode: str = ""
    error_count: int | None = None
    retry_count: int | None = None
    duration_ms: int | None = None
    tokens: int | None = None
    speaker: str = ""
    decided_by: tuple[str, ...] = ()


class NotedRun(RunDigest, frozen=True, kw_only=True):
    """The course of one task, with or without a verdict.

    Attributes:
        outcome: the row of its outcome: unique, and nothing else follows from it.
        ended_at: when it ended, seconds since the epoch.
        success: whether the task reached its goal; None where nobody knows it.
        instruction: the beginning of the task's text; "" if not reported.
        received_at: when it was reported, which is when it ended if it does not say; None if that
            is not known.
    """

    outcome: int
    ended_at: float
    success: bool | None
    instruction: str = ""
    received_at: float | None = None

    @property
    def explaining(self) -> tuple[RunStep, ...]:
        """The calls that may explain how it went: all but those of the tools that decided that."""
        if not self.decided_by:
            return self.steps
        return tuple(step for step in self.steps if step.tool not in self.decided_by)

    @property
    def order(self) -> tuple[str, ...]:
        """The distinct tools in the order of their first use, without those of the user.

        Without those that decided how it went, too.
        """
        return tuple(dict.fromkeys(step.tool for step in self.explaining if step.actor != USER))

    @property
    def tools(self) -> frozenset[str]:
        """The tools that it used, without those that decided how it went."""
        return frozenset(step.tool for step in self.explaining)


class Run(NotedRun, frozen=True, kw_only=True):
    """A run with a verdict: all that successes are compared with failures from.

    Attributes:
        success: whether the task reached its goal.
    """

    success: bool


def with_verdict(runs: Iterable[NotedRun]) -> list[Run]:
    """Return the runs of which it is known how they went, in their order."""
    return [run for run in runs if isinstance(run, Run)]
