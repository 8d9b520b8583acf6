"""Dead letters: what could not be learnt, in Redis until someone decides about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from trackrecord.errors import InvalidCursor, InvalidRequest
from trackrecord.learning.text.times import iso
from trackrecord.resources.access.redis_server import open_redis
from trackrecord.resources.declaration.checks import IdOf, Limit, Text, text_of
from trackrecord.resources.declaration.paging import cursor_of, place_of, sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource
from trackrecord.wire.kinds import KINDS, MARK, project_in

if TYPE_CHECKING:
    import redis

    from trackrecord.redis.keys import Keys

_PAGE: Final = 500
_AN_ID: Final = re.compile(r"[0-9]{1,19}-[0-9]{1,19}(?:@[0-9]{1,2})?", re.ASCII)
# The fields of an entry that hold a body, which names its project.
_BODIES: Final = tuple(kind.field for kind in KINDS.values())

Fields = dict[bytes, bytes]


class LetterPlace(NamedTuple):
    """A place in the order of dead letters: the oldest first.

    Attributes:
        id: of the letter.
    """

    id: str


class DeadLetter(Answer, frozen=True, kw_only=True):
    """An entry of the stream that was set aside.

    Attributes:
        id: its own id.
        set_aside_at: when it was set aside.
        reason: why it could not be learnt.
        entry_id: the id that it had in the stream.
        body: the outcome as it was published; bytes that are not UTF-8 are shown escaped.
        fields: whatever else the entry holds.
        cut_from_bytes: the size of an entry of which only the beginning was kept, because it was
            too large: it cannot be replayed. Null for a whole one.
    """

    id: str
    set_aside_at: Instant
    reason: str
    entry_id: str
    body: str
    fields: dict[str, str]
    cut_from_bytes: int | None = None

    @property
    def cursor(self) -> str:
        """The text that `after` takes for the letters that follow this one in a list."""
        return cursor_of(LetterPlace(self.id))

    @property
    def project(self) -> str | None:
        """The project that it is of; None if it does not say."""
        for body in (self.body, *(self.fields.get(name, "") for name in _BODIES)):
            if body:
                return project_in(body)
        return None


class Replayed(Answer, frozen=True):
    """What was done with dead letters that were replayed.

    Attributes:
        replayed: how many were put back into the stream.
    """

    replayed: int


class Discarded(Answer, frozen=True):
    """What was done with dead letters that were discarded.

    Attributes:
        discarded: how many were deleted.
    """

    discarded: int


def read_letters(
    client: redis.Redis,
    keys: Keys,
    *,
    project: str | None = None,
    after: str | None = None,
    newest_first: bool = False,
    limit: int | None = None,
) -> Iterator[DeadLetter]:
    """Yield dead letters, the oldest first.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        project: only letters that say that they are of this project; None for all.
        after: only the letters that follow the one with this id.
        newest_first: whether the newest come first, and those that follow are older ones.
        limit: the maximum number of letters; None for all.

    Raises:
        InvalidCursor: there can be no letter of the id `after`.
    """
    if after is not None and not _AN_ID.fullmatch(after):
        message = "the cursor is not that of a dead letter"
        raise InvalidCursor(message)
    at_once = _PAGE if limit is None or project is not None else min(limit, _PAGE)
    pages = _pages(client, keys, after=after, newest_first=newest_first, at_once=at_once)
    letters = (_letter(letter_id, fields) for letter_id, fields in pages)
    yield from islice((each for each in letters if project in (None, each.project)), limit)


def _letter(letter_id: bytes, fields: Fields) -> DeadLetter:
    from trackrecord.redis.dead_letter_stream import CUT

    cut = fields.get(CUT, b"")
    text = {
        name.decode(errors="replace"): _text(value)
        for name, value in fields.items()
        if name not in (CUT, MARK.encode())
    }
    return DeadLetter(
        id=letter_id.decode(),
        set_aside_at=int(letter_id.split(b"-")[0]) / 1000,
        reason=text.pop("reason", ""),
        entry_id=text.pop("entry_id", ""),
        body=text.pop("body", ""),
        fields=text,
        cut_from_bytes=int(cut) if cut.isdigit() else None,
    )


def _text(value: bytes) -> str:
    """Return bytes as text, with escapes for what is not UTF-8, so that nothing disappears."""
    return value.decode(errors="backslashreplace")


def replay_letters(client: redis.Redis, keys: Keys, ids: Sequence[str] | None) -> int:
    """Put dead letters back into the stream; return their number.

    Those of which only the beginning was kept are left where they are.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        ids: of the letters; None for all that are there now.

    Raises:
        InvalidRequest: of all of them only the beginning was kept.
    """
    from trackrecord.redis.dead_letter_stream import ADDED, CUT

    count = cut = 0
    for shard, own_id in _places(client, keys, ids):
        found: Any = client.xrange(shard.dead, own_id, own_id)
        for _, fields in found:
            if CUT in fields:
                cut += 1
                continue
            original = {name: value for name, value in fields.items() if name not in ADDED}
            # One step: in the stream or among the dead letters, never in both or in neither.
            with client.pipeline(transaction=True) as pipe:
                pipe.xadd(shard.outcomes, original or {b"v": b""})
                pipe.xdel(shard.dead, own_id)
                pipe.execute()
            count += 1
    if cut and not count:
        message = (
            "nothing can be put back: the entries were too large, and only their beginning was "
            "kept; discard them"
        )
        raise InvalidRequest(message)
    return count


def discard_letters(client: redis.Redis, keys: Keys, ids: Sequence[str] | None) -> int:
    """Delete dead letters for good; return their number. See `replay_letters`."""
    places = _places(client, keys, ids)
    return sum(int(client.xdel(shard.dead, own_id)) for shard, own_id in places)


def _places(
    client: redis.Redis, keys: Keys, ids: Sequence[str] | None
) -> Iterator[tuple[Keys, str]]:
    """Yield the shards of letters and their ids there; later ones are left for the next time."""
    from trackrecord.redis.keys import split_mark
    from trackrecord.redis.shards import all_shards

    shards = {shard.number: shard for shard in all_shards(client, keys)}
    for letter_id in _known(client, keys, None) if ids is None else ids:
        own_id, number = split_mark(letter_id)
        yield shards[number], own_id


def _known(client: redis.Redis, keys: Keys, project: str | None) -> list[str]:
    return [letter.id for letter in read_letters(client, keys, project=project)]


def _pages(
    client: redis.Redis, keys: Keys, *, after: str | None, newest_first: bool, at_once: int
) -> Iterator[tuple[bytes, Fields]]:
    """Yield the letters of all shards in one order, read in portions.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        after: only the letters that follow the one with this id.
        newest_first: whether the newest come first.
        at_once: how many are read from a shard at once.
    """
    from trackrecord.redis.shards import all_shards

    pages = (
        _pages_of_shard(client, shard, *_beyond(shard, after, newest_first), newest_first, at_once)
        for shard in all_shards(client, keys)
    )
    yield from merge(*pages, key=lambda letter: _place(letter[0].decode()), reverse=newest_first)


def _place(letter_id: str) -> tuple[int, int, int]:
    """Return the place of a letter in the order of all shards' letters."""
    from trackrecord.redis.keys import split_mark

    own_id, number = split_mark(letter_id)
    moment, _, count = own_id.partition("-")
    return int(moment), int(count), -1 if number is None else number


def _beyond(shard: Keys, after: str | None, newest_first: bool) -> tuple[str, str]:
    """Return the bounds of the letters of a shard that follow a letter of any shard."""
    if after is None:
        return "-", "+"
    own_id = after.partition("@")[0]
    follows = _place(shard.mark(own_id)) > _place(after)
    if newest_first:
        follows = _place(shard.mark(own_id)) < _place(after)
    bound = own_id if follows else f"({own_id}"
    return ("-", bound) if newest_first else (bound, "+")


def _pages_of_shard(
    client: redis.Redis, shard: Keys, first: str, last: str, newest_first: bool, at_once: int
) -> Iterator[tuple[bytes, Fields]]:
    while True:
        page: Any = (
            client.xrevrange(shard.dead, max=last, min=first, count=at_once)
            if newest_first
            else client.xrange(shard.dead, min=first, max=last, count=at_once)
        )
        for own_id, fields in page:
            yield shard.mark(own_id.decode()).encode(), fields
        if len(page) < at_once:
            return
        beyond = "(" + page[-1][0].decode()
        first, last = (first, beyond) if newest_first else (beyond, last)


def _chosen(
    client: redis.Redis,
    keys: Keys,
    ids: Iterable[str] | None,
    *,
    everything: bool,
    project: str | None,
) -> Sequence[str]:
    """Return the ids of the letters that are meant.

    Raises:
        InvalidRequest: neither ids nor all letters are asked for, or both.
        UnknownId: there is no such letter, or the project has none.
        AmbiguousId: several letters' ids begin so.
    """
    given = [text_of("ids", each) for each in ids or ()]
    if bool(everything) == bool(given):
        message = "name either the ids of dead letters or, with everything (--all), all of them"
        raise InvalidRequest(message)
    from trackrecord.resources.access.short_ids import matching, whole_id

    known = _known(client, keys, project)
    nobody = "there is no" if project is None else f"project {project!r} has no"
    hint = "`trackrecord dead list` shows them"
    return known if everything else [
        whole_id(each, matching(each, known), f"{nobody} dead letter {each!r}", hint=hint,
                 near=lambda: known)
        for each in given
    ]  # fmt: skip


def count_letters(client: redis.Redis, keys: Keys, project: str) -> int:
    """Return how many dead letters say that they are of a project."""
    return sum(1 for _ in read_letters(client, keys, project=project))


def count_dead_letters(*, project: str | None = None) -> int | None:
    """Return how many dead letters there are; None where each would have to be read for it.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    from trackrecord.redis.shards import all_shards

    if project is not None:
        return None
    with open_redis() as (client, settings):
        shards = all_shards(client, settings.keys)
        return sum(int(client.xlen(shard.dead)) for shard in shards)


def _reason(letter: DeadLetter) -> str:
    if letter.cut_from_bytes is None:
        return letter.reason
    return f"{letter.reason}; cut from {letter.cut_from_bytes:,} bytes, cannot be replayed"


_SORTING = sorting_of("dead letters", "id", set_aside="set_aside_at")
DEAD_LETTERS = Resource("dead", "Show, replay or discard outcomes that could not be learnt.")
_OF_ALL: Final[dict[str, Any]] = {"scope": "all", "needs_store": False}
_DECIDES: Final = {**_OF_ALL, "permission": "admin", "option_names": {"everything": "all"}}


@DEAD_LETTERS.offers(
    "GET /dead-letters",
    command="list",
    sorting=_SORTING,
    in_pages=True,
    pages_in_order=True,
    total=count_dead_letters,
    columns=("id", "set aside", "reason", "body"),
    about="reason",
    secondary=("set aside",),
    cells={
        "id": lambda letter: letter.id,
        "set aside": lambda letter: iso(letter.set_aside_at),
        "reason": _reason,
    },
    nothing="no dead letters",
    **_OF_ALL,
)
def list_dead_letters(
    *,
    limit: Limit | None = 100,
    sort: Text | None = None,
    after: Text | None = None,
    project: Text | None = None,
) -> list[DeadLetter]:
    """List the oldest dead letters, each with the reason why it could not be learnt.

    A dead letter may not say which project it is of, so the list is one for all projects.

    Args:
        limit: the maximum number of letters to return; None for all.
        sort: "-set-aside" for the newest instead of the oldest.
        after: the `cursor` of a letter: only the letters that follow it.
        project: only the letters that say that they are of this project; all when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    order = None if sort is None else _SORTING.order(sort)
    place = None if after is None else place_of(after, LetterPlace).id
    newest_first = order is not None and order.is_descending
    with open_redis() as (client, settings):
        return list(
            read_letters(
                client, settings.keys, project=project, after=place,
                newest_first=newest_first, limit=limit,
            )
        )  # fmt: skip


@DEAD_LETTERS.offers(
    "POST /dead-letters/replay",
    command="replay",
    answers=Replayed,
    in_words=lambda count: f"{count} put back into the stream",
    option_help={
        "everything": "Put all dead letters back.",
        "project": "Put back only those that say that they are of this project.",
    },
    **_DECIDES,
)
def replay_dead_letters(
    ids: Annotated[Iterable[str], IdOf("letter")] | None = None,
    *,
    everything: bool = False,
    project: Text | None = None,
) -> int:
    """Put dead letters back into the stream, after their cause has been mended.

    Args:
        ids: the letters' ids, or their beginnings.
        everything: whether all letters are meant, instead of `ids`.
        project: only letters that say that they are of this project; any when not given.

    Returns:
        How many were put back.

    Raises:
        TrackrecordError: the message says in one line what is wrong; no letter is put back.
    """
    with open_redis() as (client, settings):
        wanted = _chosen(client, settings.keys, ids, everything=everything, project=project)
        return replay_letters(client, settings.keys, wanted)


@DEAD_LETTERS.offers(
    "POST /dead-letters/discard",
    command="discard",
    answers=Discarded,
    in_words=lambda count: f"{count} discarded",
    option_help={
        "everything": "Delete all dead letters.",
        "project": "Delete only those that say that they are of this project.",
    },
    **_DECIDES,
)
def discard_dead_letters(
    ids: Annotated[Iterable[str], IdOf("letter")] | None = None,
    *,
    everything: bool = False,
    project: Text | None = None,
) -> int:
    """Delete dead letters for good.

    Args:
        ids: the letters' ids, or their beginnings.
        everything: whether all letters are meant, instead of `ids`.
        project: only letters that say that they are of this project; any when not given.

    Returns:
        How many were deleted.

    Raises:
        TrackrecordError: the message says in one line what is wrong; no letter is deleted.
    """
    with open_redis() as (client, settings):
        wanted = _chosen(client, settings.keys, ids, everything=everything, project=project)
        return discard_letters(client, settings.keys, wanted)
