"""The fields of an outcome, as a type checker sees them in `publish()` and in attempts.

They are those of the wire format, and what has only one reading beside it: see `body`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from os import PathLike
from typing import Literal, TypedDict
from uuid import UUID


class ToolCallFields(TypedDict, total=False):
    """One call of a tool.

    Attributes:
        tool: the tool's name; a call without one is not a step of a procedure.
        id: the id by which `depends_on` of other calls refers to this one.
        args: the arguments; of an object, names and types go into a recipe, values never.
        result: the tool's result.
        ok: whether the call succeeded.
        error: the error, if it failed.
        duration_ms: how long it took.
        timestamp: when it was made: ISO 8601, or seconds since the epoch.
        depends_on: ids of the calls that had to come first.
        actor: who made the call: "agent" (the default), "user" or another agent's name.
    """

    tool: str | None
    id: str | int | None
    args: object
    result: object
    ok: bool | None
    error: object
    duration_ms: float | None
    timestamp: str | float | datetime | None
    depends_on: Sequence[str | int] | None
    actor: str | None


class _RequiredTriggerFields(TypedDict):
    signal: str


class TriggerFields(_RequiredTriggerFields, total=False):
    """The trigger of a task.

    Attributes:
        signal: an intent label or an error signature; required.
        conditions: the conditions at that time.
    """

    conditions: object


class ProcessFields(TypedDict, total=False):
    """Counts of events during the task.

    Attributes:
        reviews: reviews of the work.
        rejections: reviews that rejected it.
        test_fail_loops: rounds of failing tests.
        hard_limit_hits: limits that were hit.
    """

    reviews: int | None
    rejections: int | None
    test_fail_loops: int | None
    hard_limit_hits: int | None


class CostFields(TypedDict, total=False):
    """The cost of the task.

    Attributes:
        tokens_in: tokens read.
        tokens_out: tokens written.
        usd: US dollars.
    """

    tokens_in: int | None
    tokens_out: int | None
    usd: float | None


class _RequiredGroundFields(TypedDict):
    kind: str


class GroundFields(_RequiredGroundFields, total=False):
    """One reason for the verdict of a captured run.

    Attributes:
        kind: the kind of evidence; required.
        says: the evidence in words.
        call: the position in `tool_graph` of the call that is the evidence, from 0.
    """

    says: str
    call: int | None


class OutcomeFields(TypedDict, total=False):
    """Every field of an outcome but `task_id` and `success`; None is "not given".

    Attributes:
        bead_id: another name for `task_id`, which wins when both are there.
        outcome_id: idempotency key: the same outcome again changes nothing; another one with the
            same id, in the same project, amends it.
        project: the project that learns from it; the settings' project when not given.
        timestamp: when the task ended: a datetime, ISO 8601 with an offset, or a number since the
            epoch. A datetime without a time zone is local time. Now when not given.
        duration_ms: how long the task took; rounded to whole milliseconds.
        error_count: errors on the way.
        retry_count: retries on the way.
        source: the name of the reporting agent.
        reporter: the one whose word it is where that is known by other means; see docs/wire.md.
        outcome_source: how success was determined; "explicit" when not given.
        strategy: how the work was divided.
        description: the plan in prose, English or Chinese; strategies are recognised in it.
        patterns: patterns named outright.
        trigger: the trigger of the task; a text is its signal.
        instruction: the task's text.
        tool_graph: the tool calls, in order.
        files_touched: files that the task changed.
        criteria: verdicts on single criteria.
        failure_mode: the kind of failure, a short label.
        failure_details: what happened.
        competence_id: the competence record that was used.
        memory_ids: the memories that were used.
        process: counts of events during the task.
        cost: the cost of the task.
        grounds: the reasons for the verdict of a captured run.
        captured_from: what was read to report a run without the agent's help.
        commits: the commits that the task made.
        metadata: anything else, kept as it is.
    """

    bead_id: str | None
    outcome_id: str | UUID | None
    project: str | None
    timestamp: datetime | str | float | None
    duration_ms: float | timedelta | None
    error_count: int | None
    retry_count: int | None
    source: str | None
    reporter: str | None
    outcome_source: Literal["explicit", "evaluator", "tests", "heuristic"] | None
    strategy: str | None
    description: str | None
    patterns: Sequence[str] | None
    trigger: TriggerFields | str | None
    instruction: str | None
    tool_graph: Sequence[ToolCallFields] | None
    files_touched: Sequence[str | PathLike[str]] | None
    criteria: Mapping[str, Literal["helpful", "harmful", "neutral"]] | None
    failure_mode: str | None
    failure_details: str | BaseException | None
    competence_id: str | None
    memory_ids: Sequence[str] | None
    process: ProcessFields | None
    cost: CostFields | None
    grounds: Sequence[GroundFields] | None
    captured_from: Literal["transcript", "plugin", "hooks", "traces", "repository"] | None
    commits: Sequence[str] | None
    metadata: Mapping[str, object] | None


class AttemptFields(OutcomeFields, total=False):
    """The fields that an attempt can report: those of an outcome.

    Attributes:
        success: whether the task reached its goal, where that is known better than by whether
            something is raised. An exception that ends the attempt is a failure all the same.
    """

    success: bool | None
