"""What HTTP offers of errors of tasks in flight, of stored outputs, and a little otherwise."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from trackrecord.calls.given import Moment, moment_of
from trackrecord.errors import InvalidRequest
from trackrecord.inflight.errors import ErrorType
from trackrecord.learning.text.language import Language

if TYPE_CHECKING:
    from trackrecord.artifacts.kept_outputs import KeptOutput
    from trackrecord.inflight.errors import TaskError
    from trackrecord.inflight.store import InFlightStore
    from trackrecord.queries.memories import RecalledMemory
    from trackrecord_door.floor import Floor


def _tasks(floor: Floor, project: str) -> InFlightStore:
    from trackrecord.inflight.store import InFlightStore

    return InFlightStore(floor.client, floor.settings.keys, project, floor.settings.errors)


def record_error(
    floor: Floor,
    *,
    task_id: str,
    message: str,
    type: ErrorType | None = None,  # noqa: A002 - what the rules call it
    stack_trace: str | None = None,
    tool_name: str | None = None,
    context: str | None = None,
    project: str,
) -> Mapping[str, Any]:
    """Record an error that an attempt at a task met, for the next attempt.

    Args:
        floor: has Redis.
        task_id: The task.
        message: What happened.
        type: What kind of error it is; derived from the message when not given.
        stack_trace: Where it happened.
        tool_name: The tool that was used.
        context: The activity at that time.
        project: The task's project.
    """
    from trackrecord.inflight.classification import classify_text
    from trackrecord.inflight.reports import error_report

    report = error_report(
        task_id,
        type or classify_text(message),
        message,
        stack_trace=stack_trace,
        tool_name=tool_name,
        context=context,
    )
    _tasks(floor, project).write(report)
    return {"id": report.id, "task_id": report.task_id, "type": report.type}


def list_errors(
    floor: Floor,
    *,
    task_id: str | None = None,
    unresolved: bool = False,
    category: ErrorType | None = None,
    at: Moment | None = None,
    project: str,
) -> list[TaskError]:
    """Return the kept errors of tasks in flight, those that happened last first.

    Args:
        floor: has Redis.
        task_id: Only errors of this task.
        unresolved: Only errors that nobody has dealt with.
        category: Only errors of this type.
        at: A past moment to answer for.
        project: The tasks' project.
    """
    from trackrecord.inflight.listing import ErrorFilter

    wanted = ErrorFilter(task_id, category, unresolved)
    return _tasks(floor, project).find(wanted, at=moment_of(at))


def error_document(error: TaskError) -> dict[str, Any]:
    """Return an error as JSON."""
    from trackrecord.inflight.retry_record import error_document

    return error_document(error)


def resolve_error(floor: Floor, *, error_id: str, project: str) -> Mapping[str, Any]:
    """Mark an error as dealt with; resolving it again changes nothing.

    Args:
        floor: has Redis.
        error_id: The error's id, or the beginning of it.
        project: The task's project.
    """
    from trackrecord.queries.in_flight import whole_error_id

    whole = whole_error_id(floor.client, floor.settings.keys, project, error_id)
    _tasks(floor, project).resolve(whole)
    return {"id": whole, "resolved": True}


def error_context(
    floor: Floor,
    *,
    task_id: str,
    include_resolved: bool = False,
    lang: Language = "en",
    at: Moment | None = None,
    project: str,
) -> Mapping[str, Any]:
    """Return the text on earlier attempts for the prompt of a retry; "" without any.

    Args:
        floor: has Redis.
        task_id: The task.
        include_resolved: Whether errors that have been dealt with are listed, too.
        lang: The language of the text, "en" or "zh".
        at: A past moment to answer for.
        project: The task's project.
    """
    from trackrecord.inflight.retry_text import retry_text

    task = _tasks(floor, project).read(task_id, at=moment_of(at))
    rules = floor.settings.errors
    errors = task.errors if include_resolved else task.unresolved
    return {
        "task_id": task_id,
        "context": retry_text(task, rules, include_resolved=include_resolved, language=lang),
        "strikes": task.strikes,
        "errors": [error_document(error) for error in errors],
    }


def error_stats(
    floor: Floor, *, task_id: str, at: Moment | None = None, project: str
) -> Mapping[str, Any]:
    """Return the counts of a task's errors.

    Args:
        floor: has Redis.
        task_id: The task.
        at: A past moment to answer for.
        project: The task's project.
    """
    stats = asdict(_tasks(floor, project).read(task_id, at=moment_of(at)).stats)
    stats.pop("problem")
    return stats


def list_artifacts(
    *, task_id: str | None = None, at: Moment | None = None, project: str
) -> list[KeptOutput]:
    """Return the stored outputs with their task, tool and summary, newest first.

    Args:
        task_id: The task whose outputs are wanted.
        at: Only outputs still there that had been stored last by this moment.
        project: Their project.
    """
    import trackrecord

    moment = moment_of(at)
    found = trackrecord.list_artifacts(task_id, project=project)
    return [each for each in found if moment is None or each.stored_at <= moment]


def output_document(output: KeptOutput) -> dict[str, Any]:
    """Return a stored output as JSON."""
    from trackrecord.artifacts.documents import output_document

    return output_document(output)


def read_artifact(
    floor: Floor,
    *,
    artifact_id: str,
    lines: str | None = None,
    bytes: str | None = None,  # noqa: A002 - what it is called everywhere else
    project: str,
) -> Mapping[str, Any]:
    """Return a stored output, or a part of it, as much of it as fits a page.

    Args:
        floor: has the settings.
        artifact_id: The artifact's id.
        lines: The first and the last line, counted from 1, as `1:100`.
        bytes: The first and the last byte, counted from 0, as `0:99`.
        project: Its project.
    """
    from trackrecord.artifacts.client import open_artifacts
    from trackrecord.artifacts.documents import page_document
    from trackrecord.artifacts.pages import Range, page_of

    if lines is not None and bytes is not None:
        message = "ask for lines or for bytes, not for both"
        raise InvalidRequest(message)
    try:
        wanted = (
            Range("bytes", 0)
            if lines is None and bytes is None
            else Range.parse("bytes", bytes)
            if bytes is not None
            else Range.parse("lines", lines or "")
        )
    except ValueError as error:
        raise InvalidRequest(str(error)) from None
    whole = open_artifacts(floor.settings, project).get(artifact_id)
    page = page_of(artifact_id, whole, wanted, floor.settings.artifacts.page_bytes)
    following = page.following
    return page_document(page, whole) | {
        "following": None
        if following is None
        else {"unit": following.unit, "start": following.start, "last": following.last}
    }


def store_artifact(
    floor: Floor,
    *,
    content: str,
    encoding: Literal["utf-8", "base64"] = "utf-8",
    task_id: str | None = None,
    tool: str | None = None,
    project: str,
) -> Mapping[str, Any]:
    """Store an output whole; the answer has the summary that can take its place in a prompt.

    Args:
        floor: has the settings.
        content: The output.
        encoding: How the content is written: "utf-8" or "base64".
        task_id: The task that the output came up in.
        tool: The tool whose output it is.
        project: Its project.
    """
    from trackrecord.artifacts.client import store_output

    try:
        data = content.encode() if encoding == "utf-8" else b64decode(content, validate=True)
    except (NotBase64, ValueError):
        message = "content is not base64"
        raise InvalidRequest(message) from None
    stored = store_output(floor.settings, project, data, task_id=task_id, tool=tool)
    return {
        "id": stored.id,
        "kind": stored.told.kind,
        "size": stored.told.size,
        "lines": stored.told.lines,
        "gone": stored.told.gone,
        "task_id": task_id,
        "tool": tool,
        "summary": stored.summary,
    }


def find_memories(
    *,
    text: str,
    limit: int = 5,
    min_confidence: float = 0.0,
    at: Moment | None = None,
    project: str,
) -> list[RecalledMemory]:
    """Return the memories that fit a text, best first; nothing is changed by it.

    Args:
        text: The text that the memories are to fit.
        limit: The maximum number of memories to return.
        min_confidence: The minimum effective (decayed) confidence, from 0 to 1.
        at: A past moment to answer for.
        project: The memories' project.
    """
    import trackrecord

    return trackrecord.recall(
        text, limit=limit, min_confidence=min_confidence, at=at, reset=False, project=project
    )


def forget_memory(*, memory_id: str, project: str) -> Mapping[str, Any]:
    """Erase a memory and its history.

    Args:
        memory_id: The memory's id, or the beginning of it.
        project: The memory's project.
    """
    import trackrecord

    return {"id": trackrecord.forget_memory(memory_id, project=project), "forgotten": True}


def task_document(task: Any) -> dict[str, Any]:  # noqa: ANN401 - imported with the store
    """Return a past task as JSON."""
    from trackrecord.queries.memories import task_document

    return task_document(task)


def find_strategies(*, text: str) -> list[Mapping[str, Any]]:
    """Return the strategies that a text mentions, as they are recognised in an outcome.

    Args:
        text: A plan in prose; of a very long one the beginning is searched.
    """
    import trackrecord

    return [
        {"id": each.slug, "name_en": each.name_en, "name_zh": each.name_zh}
        for each in trackrecord.strategies(text)
    ]


def weigh_scores(
    floor: Floor,
    *,
    scores: Mapping[str, float],
    at: Moment | None = None,
    project: str,
) -> Mapping[str, Any]:
    """Weigh an evaluation: scores on criteria, each by how far the criterion can be relied on.

    Args:
        floor: has the store.
        scores: By criterion, a number from 0 to 1.
        at: A past moment whose weights count.
        project: Whose criteria.
    """
    from trackrecord.learning.criteria.evaluation import checked_scores
    from trackrecord.queries import criteria
    from trackrecord.store.database.engine import reading
    from trackrecord.times import iso

    checked, moment = checked_scores(scores), moment_of(at)
    with reading(floor.engine) as connection:
        weighed = criteria.weigh_scores(connection, floor.settings, project, checked, at=moment)
    return {"project": project, "as_of": iso(moment), **asdict(weighed)}


def run_document(run: Any) -> dict[str, Any]:  # noqa: ANN401 - imported with the store
    """Return a run of the benchmark with its changes as JSON."""
    document: dict[str, Any] = run.to_document() | {"changes": run.changes}
    return document
