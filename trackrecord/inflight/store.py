"""The tasks in flight of one project, in Redis. Every change is one step there."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

import msgspec
import redis

from trackrecord.errors import RefusedByRedis, ServerUnavailable, UnknownId
from trackrecord.learning.text.spelling import closest_id
from trackrecord.redis.keys import Keys

from .errors import ERROR_TYPES, ErrorFilter, ErrorType, TaskError, TaskInFlight, newest_errors
from .reports import (
    AttemptEnd,
    ErrorReport,
    Resolution,
    checked_task_id,
    clean,
    cut,
    digest_in,
    task_digest,
)
from .rules import MOST_STRIKES, ErrorRules
from .scripts import END, FORGET, RECORD, RESOLVE, RESOLVE_FIRST

Report = ErrorReport | AttemptEnd | Resolution
# What Redis holds of a task.
TaskFields = dict[bytes, bytes]

_SHOWN_CHARS = 80
# What begins the field that holds the number of the error with an id.
_NUMBER_OF = b"i:"
_MOST_COMPARED = 1000
_TASKS_AT_ONCE: Final = 500
_TASK: Final = b"task"
_NO_ROOM: Final = -1


class _Kept(msgspec.Struct, omit_defaults=True):
    """An error as Redis stores it, after its id and its time of receipt."""

    type: str
    message: str
    at: float
    stack_trace: str = ""
    tool_name: str = ""
    context: str = ""


_decoder = msgspec.json.Decoder(_Kept)


class InFlightStore:
    """Read and write the tasks in flight of one project.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        project: the tasks' project.
        rules: how much is kept, and how long.
    """

    def __init__(self, client: redis.Redis, keys: Keys, project: str, rules: ErrorRules) -> None:
        self._client = client
        self._keys = keys.of(project)
        self._project = project
        self._rules = rules

    def write(self, *reports: Report) -> None:
        """Record errors and ends of attempts; a repeated report changes nothing.

        Raises:
            ServerUnavailable: Redis cannot be reached or refuses writes.
        """
        named = [(self._project, report) for report in reports]
        write_reports(self._client, self._keys, self._rules, named)

    def resolve(self, error_id: str) -> None:
        """Mark an error as dealt with; resolving it again changes nothing.

        Raises:
            UnknownId: the project keeps no error with this id.
            ServerUnavailable: Redis cannot be reached or refuses writes.
        """
        if not any(self._resolve(digest, error_id) for digest in self._may_hold(error_id)):
            shown = cut(clean(error_id), _SHOWN_CHARS)
            message = f"no error {shown!r} is on record in project {self._project!r}"
            raise UnknownId(message, nearest=closest_id(shown, self._newest_ids()))

    def _newest_ids(self) -> Iterator[str]:
        """Yield the ids of the errors of the tasks with the latest news, a bounded number."""
        tasks = self._tasks(lambda pipe, key: pipe.hkeys(key))
        names = (name for _, fields in tasks for name in fields if name.startswith(_NUMBER_OF))
        for name in islice(names, _MOST_COMPARED):
            yield name.removeprefix(_NUMBER_OF).decode()

    def _may_hold(self, error_id: str) -> Iterator[str]:
        """Yield the digests of tasks that may have an error; an id of our own names its task."""
        digest = digest_in(error_id)
        if digest is not None:
            yield digest
        field = _NUMBER_OF + error_id.encode("utf-8", "replace")
        for digest, fields in self._tasks(lambda pipe, key: pipe.hexists(key, field)):
            if fields:
                yield digest

    def _resolve(self, digest: str, error_id: str) -> bool:
        key = self._keys.task_in_flight(digest, self._project)
        member = f"{digest}:{self._project}"
        keys = key, self._keys.changed_tasks
        with or_unavailable():
            return bool(self._client.eval(RESOLVE, 2, *keys, error_id, member))

    def find(self, wanted: ErrorFilter) -> list[TaskError]:
        """Return the matching stored errors, those that happened last first.

        Args:
            wanted: which ones.

        Raises:
            InvalidErrorReport: the task's id is invalid.
            ServerUnavailable: Redis cannot be reached.
        """
        if wanted.task_id is not None:
            return newest_errors([self.read(wanted.task_id)], wanted)
        return newest_errors(self.read_all(), wanted)

    def read_all(self) -> Iterator[TaskInFlight]:
        """Yield the tasks in flight of the project, those with the latest news first.

        Raises:
            ServerUnavailable: Redis cannot be reached.
        """
        for _, fields in self._tasks(lambda pipe, key: pipe.hgetall(key)):
            yield task_of(fields)

    def _tasks(self, ask: Callable[[Any, str], object]) -> Iterator[tuple[str, Any]]:
        """Yield the digest of each task, and the answer to its query."""
        with or_unavailable():
            digests: Any = self._client.zrevrange(self._keys.tasks_in_flight(self._project), 0, -1)
            remaining = iter(digests)
            while some := [digest.decode() for digest in islice(remaining, _TASKS_AT_ONCE)]:
                with self._client.pipeline(transaction=False) as pipe:
                    for digest in some:
                        ask(pipe, self._keys.task_in_flight(digest, self._project))
                    answers: list[Any] = pipe.execute()
                yield from zip(some, answers, strict=True)

    def forget(self, task: str) -> bool:
        """Delete everything about a task; return whether there was anything.

        Args:
            task: the digest that stands for the task.

        Raises:
            ServerUnavailable: Redis cannot be reached or refuses writes.
        """
        given = common_arguments(self._keys, self._project, task, self._rules)
        with or_unavailable():
            return bool(self._client.eval(FORGET, 4, *given, ""))

    def read(self, task_id: str) -> TaskInFlight:
        """Return the recorded errors and attempts of a task, empty for an unknown task.

        Args:
            task_id: the task.

        Raises:
            InvalidErrorReport: the task's id is invalid.
            ServerUnavailable: Redis cannot be reached.
        """
        digest = task_digest(checked_task_id(task_id))
        key = self._keys.task_in_flight(digest, self._project)
        with or_unavailable():
            answer: Any = self._client.hgetall(key)
        if not answer:
            return TaskInFlight()
        # A task that was recorded by an earlier version does not say which one it is.
        return task_of({_TASK: task_id.encode(), **answer})


def write_reports(
    client: redis.Redis, keys: Keys, rules: ErrorRules, reports: Sequence[tuple[str, Report]]
) -> list[bool]:
    """Write reports, each with its project, in one pipelined write; repeats change nothing.

    Returns:
        For each whether its task has room for it: too many errors of a task may be resolved that
        have not been recorded.

    Raises:
        ServerUnavailable: Redis cannot be reached or refuses a report; others may be in.
    """
    with or_unavailable(), client.pipeline(transaction=False) as pipe:
        for project, report in reports:
            _queue(pipe, keys, project, report, rules)
        answers = pipe.execute(raise_on_error=False)
    for answer in answers:
        if isinstance(answer, Exception):
            raise _unavailable(answer) from answer
    return [answer != _NO_ROOM for answer in answers]


def _queue(
    pipe: Any,  # noqa: ANN401 - redis-py types its pipelines as clients of either kind
    keys: Keys,
    project: str,
    report: Report,
    rules: ErrorRules,
) -> None:
    digest = task_digest(report.task_id)
    common = (4, *common_arguments(keys, project, digest, rules), report.task_id)
    if isinstance(report, ErrorReport):
        body = _body(report.as_kept())
        counted = int(report.is_counted)
        pipe.eval(RECORD, *common, report.id, report.type, body, rules.max_per_task, counted)
    elif isinstance(report, Resolution):
        pipe.eval(RESOLVE_FIRST, *common, report.id, rules.max_per_task)
    else:
        how = "S" if report.success else "F"
        pipe.eval(END, *common, report.id, how, MOST_STRIKES)


def common_arguments(
    keys: Keys, project: str, digest: str, rules: ErrorRules
) -> tuple[str | float, ...]:
    """Return the keys of a script, and its first arguments."""
    keys = keys.of(project)
    task = keys.task_in_flight(digest, project)
    # A script that forgets another task makes that task's key.
    tail = f":{project}"
    head = task.removesuffix(digest + tail)
    return (
        task, keys.tasks_in_flight(project), keys.task_sizes(project), keys.changed_tasks,
        digest, head, tail, rules.retention_s, rules.max_per_project,
    )  # fmt: skip


def _body(report: ErrorReport) -> bytes:
    return msgspec.json.encode(msgspec.convert(report, _Kept, from_attributes=True))


def task_of(fields: TaskFields) -> TaskInFlight:
    """Return what Redis holds of a task, as it is now."""
    task_id = fields.get(_TASK, b"").decode()
    numbers = sorted(int(name[2:]) for name in fields if name.startswith(b"e:"))
    errors = []
    forgotten: dict[ErrorType, int] = {
        kind: int(fields.get(f"n:{kind}".encode(), 0)) for kind in ERROR_TYPES
    }
    for number in numbers:
        error_id, _, body = fields[b"e:%d" % number].split(b" ", 2)
        error = _error_from(error_id.decode(), body, resolved=b"r:%d" % number in fields)
        errors.append(msgspec.structs.replace(error, task_id=task_id))
        forgotten[error.type] -= 1
    strikes = _strikes(fields.get(b"ends", b""))
    return TaskInFlight(tuple(errors), strikes, task_id=task_id, forgotten=forgotten)


def _error_from(error_id: str, body: bytes, *, resolved: bool) -> TaskError:
    kept = msgspec.structs.asdict(_decoder.decode(body))
    named = kept.pop("type")
    kind: ErrorType = next((each for each in ERROR_TYPES if each == named), "unknown")
    return TaskError(id=error_id, type=kind, resolved=resolved, **kept)


def _strikes(ends: bytes) -> int:
    """Return how many attempts failed since the last one that succeeded."""
    strikes = 0
    for end in ends.split():
        strikes = strikes + 1 if end.startswith(b"F") else 0
    return strikes


@contextmanager
def or_unavailable() -> Iterator[None]:
    """Raise an error of ours in place of one from Redis.

    Raises:
        ServerUnavailable: Redis cannot be reached or refuses.
    """
    try:
        yield
    except (redis.RedisError, OSError) as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> ServerUnavailable:
    """Return an error of ours for an error from Redis."""
    what = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    if isinstance(error, redis.ResponseError):
        return RefusedByRedis(f"Redis refuses the errors of tasks: {what}")
    message = f"Redis cannot be reached: {what}; start it or set TRACKRECORD_REDIS_URL"
    return ServerUnavailable(message)
