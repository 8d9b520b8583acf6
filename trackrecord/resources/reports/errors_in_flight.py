"""Errors that tasks in flight met: recorded for the next attempt, listed, and dealt with.

The Python calls of these names are the producers': they never raise, and write beside the agent.
What is declared here answers people and programs, who are told what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from msgspec import Meta

from trackrecord.errors import UnknownId, UnknownProject
from trackrecord.inflight.errors import ErrorFilter, ErrorType, TaskError
from trackrecord.learning.text.language import Language
from trackrecord.resources.access.project_store import check_project
from trackrecord.resources.access.redis_server import open_redis
from trackrecord.resources.declaration.checks import IdOf, Limit, Text
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Resource

if TYPE_CHECKING:
    import redis

    from trackrecord.inflight.store import InFlightStore
    from trackrecord.redis.keys import Keys

_TASKS_AT_ONCE: Final = 500
_ID_FIELD: Final = b"i:"
# Of the tasks with the latest news.
_MOST_COMPARED: Final = 1000

TaskId = Annotated[str, Meta(min_length=1, max_length=1024)]
ErrorId = Annotated[str, Meta(min_length=1, max_length=1024), IdOf("error")]


class TaskErrorAnswer(TaskError, Answer, frozen=True):
    """One error that an attempt at a task met."""


class RecordedError(Answer, frozen=True):
    """An error that was recorded just now.

    Attributes:
        id: unique in its project.
        task_id: the task.
        type: what kind of error it is.
    """

    id: str
    task_id: str
    type: ErrorType


class ResolvedError(Answer, frozen=True):
    """An error that is dealt with.

    Attributes:
        id: its id.
        resolved: true.
    """

    id: str
    resolved: Literal[True] = True


class ErrorContextAnswer(Answer, frozen=True, kw_only=True):
    """What a retry is told of earlier attempts.

    Attributes:
        task_id: the task.
        context: the text for its prompt; "" when there is nothing to say.
        strikes: attempts that failed since the last one that succeeded.
        errors: the errors that the text is about.
    """

    task_id: str
    context: str
    strikes: int
    errors: tuple[TaskErrorAnswer, ...]


class ErrorStatsAnswer(Answer, frozen=True, kw_only=True):
    """The errors of a task, counted.

    Attributes:
        total: all of them, also those that are resolved or not kept any more.
        unresolved: those kept that nobody has dealt with.
        by_type: all of them by type; types that did not occur are absent.
    """

    total: int
    unresolved: int
    by_type: Mapping[ErrorType, int]


@contextmanager
def _open_tasks(project: str | None) -> Iterator[tuple[InFlightStore, redis.Redis, Keys, str]]:
    from trackrecord.inflight.store import InFlightStore

    with open_redis() as (client, settings):
        name = project or settings.project
        store = InFlightStore(client, settings.keys, name, settings.errors)
        yield store, client, settings.keys, name


def _unknown_task(
    *, task_id: str | None = None, project: str | None = None, **_given: object
) -> UnknownId | UnknownProject | None:
    """Return the error for a project, or else a task, of which nothing is on record.

    A project without any record is normal: its first task has not ended yet. So is a task that
    nothing went wrong with.
    """
    from trackrecord.resources.access.short_ids import nearest_id

    with _open_tasks(project) as (store, client, keys, name):
        if not client.exists(keys.tasks_in_flight(name)):
            try:
                check_project(name)
            except UnknownProject as error:
                return error
        if task_id is None or store.read(task_id).is_known:
            return None
        known = {task.task_id for task in islice(store.read_all(), _MOST_COMPARED)} - {""}
    return UnknownId(
        f"no error of a task {task_id!r} is on record in project {name!r}",
        nearest=nearest_id(task_id, known),
        hint="`trackrecord errors list` shows the errors of its tasks",
    )


def _other_ids(project: str, _ids: list[str]) -> list[str]:
    with _open_tasks(project) as (_, client, keys, name):
        return list(error_ids(client, keys, name))


ERRORS = Resource("errors", "Record and show the errors of tasks in flight.", other_ids=_other_ids)


@ERRORS.offers(
    "POST /errors",
    command="record",
    needs_store=False,
    permission="write",
    status=201,
    in_words=lambda recorded: recorded.id,
    option_names={"tool_name": "tool"},
    option_help={
        "type": "Set the type of the error.  [default: derived from the message]",
        "stack_trace": "Add the stack trace of the error.",
        "tool_name": "Name the tool that was used.",
        "context": "Describe what was being done.",
    },
)
def record_error(
    task_id: TaskId,
    message: Text,
    *,
    type: ErrorType | None = None,  # noqa: A002 - what the rules call it
    stack_trace: str | None = None,
    tool_name: str | None = None,
    context: str | None = None,
    project: str | None = None,
) -> RecordedError:
    """Record an error that an attempt at a task met, for the next attempt.

    Args:
        task_id: the task.
        message: what happened.
        type: what kind of error it is; derived from the message when not given.
        stack_trace: where it happened.
        tool_name: the tool that was used.
        context: the activity at that time.
        project: the task's project.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
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
    with _open_tasks(project) as (store, *_):
        store.write(report.without_secrets())
    return RecordedError(report.id, report.task_id, report.type)


@ERRORS.offers(
    "GET /errors",
    needs_store=False,
    command="list",
    sorting=sorting_of(
        "errors", "id", id="id", task="task_id", type="type", tool="tool_name", at="at"
    ),
    in_pages=True,
    columns=("id", "task", "type", "message", "at", "resolved"),
    about="message",
    secondary=("resolved", "type", "at", "task"),
    cells={
        "task": lambda error: error.task_id,
        "resolved": lambda error: "yes" if error.resolved else "no",
    },
    nothing="no such errors are kept in project {project!r}",
    unknown=_unknown_task,
    option_names={"task_id": "task", "category": "category type"},
    option_help={
        "task_id": "List only the errors of this task.",
        "unresolved": "List only errors that nobody has dealt with.",
        "category": "List only errors of this type.",
    },
)
def list_errors(
    *,
    task_id: TaskId | None = None,
    unresolved: bool = False,
    category: ErrorType | None = None,
    limit: Limit | None = None,
    project: str | None = None,
) -> list[TaskErrorAnswer]:
    """List the errors of tasks in flight that are kept, those that happened last first.

    Args:
        task_id: only errors of this task.
        unresolved: only errors that nobody has dealt with.
        category: only errors of this type.
        limit: the maximum number of errors to return; all when not given.
        project: the tasks' project.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    wanted = ErrorFilter(task_id, category, unresolved)
    with _open_tasks(project) as (store, *_):
        return [*map(TaskErrorAnswer.taken, store.find(wanted)[:limit])]


@ERRORS.offers(
    "GET /errors/context",
    command="context",
    needs_store=False,
    in_words=lambda found: found.context,
    unknown=_unknown_task,
    option_help={
        "include_resolved": "Include the errors that have been dealt with.",
        "lang": "Answer in this language: names, ids and what agents wrote stay as they are.",
    },
)
def error_context(
    task_id: TaskId,
    *,
    include_resolved: bool = False,
    lang: Language = "en",
    project: str | None = None,
) -> ErrorContextAnswer:
    """Print the text for the prompt of a retry; nothing when there is nothing to say.

    Args:
        task_id: the task.
        include_resolved: whether errors that have been dealt with are listed, too.
        lang: the language of the text, "en" or "zh".
        project: the task's project.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    from trackrecord.inflight.retry_text import retry_text

    with open_redis() as (_, settings), _open_tasks(project) as (store, *_):
        task = store.read(task_id)
    errors = task.errors if include_resolved else task.unresolved
    return ErrorContextAnswer(
        task_id=task_id,
        context=retry_text(task, settings.errors, include_resolved=include_resolved, language=lang),
        strikes=task.strikes,
        errors=tuple(map(TaskErrorAnswer.taken, errors)),
    )


@ERRORS.offers("GET /errors/stats", command="stats", needs_store=False, unknown=_unknown_task)
def error_stats(task_id: TaskId, *, project: str | None = None) -> ErrorStatsAnswer:
    """Count the errors of a task by type, and those that nobody has dealt with.

    Args:
        task_id: the task.
        project: the task's project.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with _open_tasks(project) as (store, *_):
        task = store.read(task_id)
    stats = task.stats
    return ErrorStatsAnswer(total=stats.total, unresolved=stats.unresolved, by_type=stats.by_type)


@ERRORS.offers(
    "POST /errors/{error_id:path}/resolve",
    command="resolve",
    needs_store=False,
    permission="write",
    in_words=lambda _: "resolved",
)
def resolve_error(error_id: ErrorId, *, project: str | None = None) -> ResolvedError:
    """Mark an error as dealt with; resolving it again changes nothing.

    Args:
        error_id: the error's id, or the beginning of it.
        project: the task's project.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with _open_tasks(project) as (store, client, keys, name):
        whole = whole_error_id(client, keys, name, error_id)
        store.resolve(whole)
    return ResolvedError(whole)


def whole_error_id(client: redis.Redis, keys: Keys, project: str, given: str) -> str:
    """Return the id of the error that an id, or the beginning of one, stands for.

    Raises:
        UnknownId: the project keeps no such error.
        AmbiguousId: several errors' ids begin so.
    """
    from trackrecord.resources.access.short_ids import matching, whole_id

    known = list(error_ids(client, keys, project))
    return whole_id(
        given,
        matching(given, known),
        f"no error {given!r} is on record in project {project!r}",
        hint="`trackrecord errors list` shows its errors",
        near=lambda: known[-_MOST_COMPARED:],
    )


def error_ids(client: redis.Redis, keys: Keys, project: str) -> Iterator[str]:
    """Yield the ids of all errors that a project keeps: a short id stands for one of them only."""
    digests: Any = client.zrange(keys.tasks_in_flight(project), 0, -1)
    remaining = iter(digests)
    while some := list(islice(remaining, _TASKS_AT_ONCE)):
        with client.pipeline(transaction=False) as pipe:
            for digest in some:
                pipe.hkeys(keys.task_in_flight(digest.decode(), project))
            answers: Any = pipe.execute()
        for fields in answers:
            for name in fields:
                if name.startswith(_ID_FIELD):
                    yield name.removeprefix(_ID_FIELD).decode()
