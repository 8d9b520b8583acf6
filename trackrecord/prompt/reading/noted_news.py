"""News over time, of standing defects and of lessons: noted by the worker, read for people.

Both are counted anew each time, so no row says when a defect was first seen to stand or to have
ended, or when a lesson was first established. Those that stand when a project is first counted, or
counted again after Redis has lost its memory, are known from then on, and are no news.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import redis

from trackrecord.learning.advice.moments.facts import Defect, decode_defects
from trackrecord.learning.numbers.decay import DAY
from trackrecord.settings.agent_settings import AgentSettings

from ..documents.advice_document import LessonEntry, decode_advice
from .cache import read_advice, read_moments

# A field that neither a defect nor a lesson has: the hash exists from the first count on.
_FIRST_COUNT: Final = ""

# Another worker may have been first: its moment stays.
_CHANGE = """
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then return redis.call('HDEL', KEYS[1], ARGV[1]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""


class _Noted(msgspec.Struct, frozen=True, array_like=True):
    """The moments at which a defect was seen to begin and to end; 0 for never or unknown.

    Attributes:
        line: the command line, or its first words.
        began_at: seconds since the epoch.
        ended_at: the same.
    """

    line: str
    began_at: float
    ended_at: float = 0.0


_encode = msgspec.json.encode
_decoder: Final = msgspec.json.Decoder(_Noted)


def note_defects(
    client: redis.Redis,
    settings: AgentSettings,
    project: str,
    defects: Iterable[Defect],
    *,
    now: float,
) -> None:
    """Note which of a project's standing defects are new, and which have ended.

    Args:
        client: a Redis client.
        settings: the names of the keys.
        project: whose defects.
        defects: all that stand now, and those that have ended.
        now: seconds since the epoch.
    """
    key = settings.keys.known_defects(project)
    answer: Any = client.hgetall(key)
    known: Mapping[str, bytes] = {name.decode(): value for name, value in answer.items()}
    noted = {name: _decoder.decode(value) for name, value in known.items() if name}
    counted = {each.id: each for each in defects}
    changed = {
        defect.id: _encode(state)
        for defect in counted.values()
        if (state := _changed(defect, noted, now if known else 0.0)) is not None
    }
    changed.update((name, b"") for name in noted.keys() - counted.keys())
    if not known:
        changed[_FIRST_COUNT] = b"0"
    if not changed:
        return
    with client.pipeline(transaction=True) as pipe:
        for name, value in changed.items():
            pipe.eval(_CHANGE, 1, key, name, known.get(name, b""), value)
        pipe.execute()


def _changed(defect: Defect, noted: Mapping[str, _Noted], now: float) -> _Noted | None:
    """Return the new state of a defect; None if it is as it was."""
    before = noted.get(defect.id)
    if defect.ended_at:
        if before is None or before.ended_at:
            return None
        return _Noted(before.line, before.began_at, min(defect.ended_at, now))
    if before is not None and not before.ended_at:
        return None
    # The same calls by another name are no news.
    is_known = any(
        not each.ended_at and (each.line in defect.line or defect.line in each.line)
        for each in noted.values()
    )
    # It happened when it failed, and not when its log was read.
    return _Noted(defect.line, 0.0 if is_known else min(defect.last_at or now, now))


def changed_defects(
    client: redis.Redis, settings: AgentSettings, project: str, *, since: float, until: float
) -> list[tuple[float, Defect]]:
    """Return the defects that were seen to begin or to end between two moments, and when.

    Raises:
        redis.RedisError: Redis cannot be read.
    """
    answer: Any = client.hgetall(settings.keys.known_defects(project))
    noted = {name.decode(): _decoder.decode(value) for name, value in answer.items() if name}
    changed = {
        name: at
        for name, each in noted.items()
        if since < (at := each.ended_at or each.began_at) <= until
    }
    if not changed:
        return []
    return [
        (changed[each.id], each)
        for each in cached_defects(client, settings, project)
        if each.id in changed and bool(each.ended_at) == bool(noted[each.id].ended_at)
    ]


def cached_defects(
    client: redis.Redis, settings: AgentSettings, project: str
) -> tuple[Defect, ...]:
    """Return the standing defects of a project, and those that have ended, as they are cached.

    Raises:
        redis.RedisError: Redis cannot be read.
    """
    _, data = read_moments(client, settings, project)
    if data is None:
        return ()
    try:
        return decode_defects(data)
    except msgspec.DecodeError:
        return ()


# A lesson that comes and goes around a threshold is news once in this time.
_REMEMBERED_S: Final = 30 * DAY
_ESTABLISHED: Final = "established"


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
