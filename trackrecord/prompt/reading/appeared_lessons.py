"""The first appearance of each lesson: noted by the worker that counts advice, read for news.

Lessons are counted anew each time, so no row says when one was first established. Those that stand
when a project is first counted, or counted again after Redis has lost its memory, are known from
then on, and are no news.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import redis

from trackrecord.settings.agent_settings import AgentSettings

from ..documents.advice_document import LessonEntry, decode_advice
from .cache import read_advice

_DAY_S: Final = 86_400.0
# A lesson that comes and goes around a threshold is news once in this time.
_REMEMBERED_S: Final = 30 * _DAY_S
_ESTABLISHED: Final = "established"
# A field that no lesson has: the hash exists from the first count on.
_FIRST_COUNT: Final = ""


@dataclass(frozen=True)
class AppearedLesson:
    """A lesson, and when it was first seen to be established.

    Attributes:
        lesson_id: its id.
        at: when, seconds since the epoch: when the newest run behind it ended.
        line: what it says, in English.
        runs: the runs behind it now.
        tasks: the distinct tasks among them.
    """

    lesson_id: str
    at: float
    line: str
    runs: int
    tasks: int


def note_lessons(
    client: redis.Redis,
    settings: AgentSettings,
    project: str,
    lessons: Iterable[LessonEntry],
    *,
    now: float,
) -> None:
    """Note those of a project's established lessons that were not known before.

    Args:
        client: a Redis client.
        settings: the names of the keys.
        project: whose lessons.
        lessons: all that stand now.
        now: seconds since the epoch.
    """
    key = settings.keys.known_lessons(project)
    answer: Any = client.hgetall(key)
    known: Mapping[bytes, bytes] = answer
    standing = {each.id.encode(): each for each in lessons if each.state == _ESTABLISHED}
    # It appeared when it happened, and not when a log was read.
    new: dict[Any, Any] = {
        name: repr(min(each.last_seen, now) if known else 0.0)
        for name, each in standing.items()
        if name not in known
    }
    if not known:
        new[_FIRST_COUNT] = repr(now)
    gone = [
        name
        for name, at in known.items()
        if name and name not in standing and float(at) < now - _REMEMBERED_S
    ]
    if not new and not gone:
        return
    with client.pipeline(transaction=True) as pipe:
        # Another worker may have been first: its moment stays.
        for name, at in new.items():
            pipe.hsetnx(key, name, at)
        if gone:
            pipe.hdel(key, *gone)
        pipe.execute()


def appeared_lessons(
    client: redis.Redis, settings: AgentSettings, project: str, *, since: float, until: float
) -> list[AppearedLesson]:
    """Return the lessons that appeared between two moments and are still there.

    Raises:
        redis.RedisError: Redis cannot be read.
    """
    answer: Any = client.hgetall(settings.keys.known_lessons(project))
    appeared = {
        name.decode(): float(at)
        for name, at in answer.items()
        if name and since < float(at) <= until
    }
    if not appeared:
        return []
    _, data = read_advice(client, settings, project)
    if data is None:
        return []
    try:
        lessons = decode_advice(data).lessons
    except msgspec.DecodeError:
        return []
    return [
        AppearedLesson(each.id, appeared[each.id], each.lines["en"], each.runs, each.tasks)
        for each in lessons
        if each.id in appeared
    ]
