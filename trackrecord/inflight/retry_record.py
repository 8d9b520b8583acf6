"""Write the retry record to Redis, ready made, so that agents in any language can read it.

Whoever changes a task notes it in a set, in the same step. The text is written afterwards, and the
task leaves the set only if it has not changed meanwhile: a writer that dies leaves it there for the
next one.
"""

from itertools import islice
from typing import Any, Final

import msgspec
import redis

from trackrecord.learning.text.times import iso
from trackrecord.redis.keys import Keys

from .errors import TaskError, TaskInFlight
from .retry_text import retry_text
from .rules import MAX_IN_CONTEXT, ErrorRules
from .scripts import WRITE_TEXT
from .store import TaskFields, or_unavailable, task_of

# So many at once: each may hold a thousand errors.
_TASKS_AT_ONCE: Final = 50
_VERSION: Final = b"version"
_TASK: Final = b"task"


class RetryTexts:
    """Write the texts of the tasks that changed.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        rules: what a text holds.
    """

    def __init__(self, client: redis.Redis, keys: Keys, rules: ErrorRules) -> None:
        self._client = client
        self._keys = keys
        self._rules = rules

    def refresh(self) -> int:
        """Write the text of each task that has changed since its last one; return how many.

        Raises:
            ServerUnavailable: Redis cannot be reached or refuses writes.
        """
        written = 0
        with or_unavailable():
            for shard in self._keys.shards:
                changed: Any = self._client.sscan_iter(shard.changed_tasks, count=_TASKS_AT_ONCE)
                while some := list(islice(changed, _TASKS_AT_ONCE)):
                    written += self._write(shard, some)
        return written

    def _write(self, shard: Keys, members: list[bytes]) -> int:
        named = [member.decode().partition(":") for member in members]
        with self._client.pipeline(transaction=False) as pipe:
            for digest, _, project in named:
                pipe.hgetall(shard.task_in_flight(digest, project))
            answers: list[Any] = pipe.execute()
        with self._client.pipeline(transaction=False) as pipe:
            for member, (digest, _, project), fields in zip(members, named, answers, strict=True):
                if _TASK in fields:
                    self._queue(pipe, shard, digest, project, member, fields)
                else:  # it is over, or it was recorded by a version that did not keep its id
                    pipe.srem(shard.changed_tasks, member)
            pipe.execute()
        return len(members)

    def _queue(
        self,
        pipe: Any,  # noqa: ANN401 - redis-py types its pipelines as clients of either kind
        shard: Keys,
        digest: str,
        project: str,
        member: bytes,
        fields: TaskFields,
    ) -> None:
        task = task_of(fields)
        names = (
            shard.task_in_flight(digest, project),
            shard.retry(task.task_id, project),
            shard.changed_tasks,
        )
        record = retry_record(task, self._rules)
        values = [part for pair in record.items() for part in pair]
        pipe.eval(WRITE_TEXT, len(names), *names, member, fields[_VERSION], *values)


def retry_record(task: TaskInFlight, rules: ErrorRules) -> dict[str, bytes | str]:
    """Return the retry record: the text in each language, and its sources."""
    newest = task.errors[-MAX_IN_CONTEXT:]
    document = {
        "task_id": task.task_id,
        "strikes": task.strikes,
        "total": task.stats.total,
        "unresolved": task.stats.unresolved,
        "by_type": task.stats.by_type,
        "errors": [error_document(error) for error in newest],
    }
    return {
        "en": retry_text(task, rules, language="en"),
        "zh": retry_text(task, rules, language="zh"),
        "json": msgspec.json.encode(document),
    }


def error_document(error: TaskError) -> dict[str, Any]:
    """Return an error as a JSON object."""
    return msgspec.structs.asdict(error) | {"at": iso(error.at)}
