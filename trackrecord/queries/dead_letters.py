"""Dead letters: outcomes that could not be learnt, in Redis until someone decides about them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import redis

from trackrecord.dead_letter_stream import CUT
from trackrecord.errors import InvalidCursor, UnknownId
from trackrecord.redis_keys import Keys
from trackrecord.resources.paging import Order, cursor_of
from trackrecord.times import iso

from .short_ids import matching, whole_id

_PAGE: Final = 500
# A letter comes with its body, which may have a megabyte.
_MOST_COMPARED: Final = 50
_MILLISECONDS_DIGITS: Final = 13
_AN_ID: Final = re.compile(r"[0-9]{1,19}-[0-9]{1,19}", re.ASCII)

Fields = dict[bytes, bytes]


@dataclass(frozen=True)
class DeadLetter:
    """An entry of the stream that was set aside.

    Attributes:
        id: its own id.
        set_aside_at: when, seconds since the epoch.
        reason: why it could not be learnt.
        entry_id: the id that it had in the stream.
        body: the outcome as it was published; bytes that are not UTF-8 are shown escaped.
        fields: whatever else the entry holds.
        cut_from_bytes: the size of an entry of which only the beginning was kept, because it was
            too large: it cannot be replayed. None for a whole one.
    """

    id: str
    set_aside_at: float
    reason: str
    entry_id: str
    body: str
    fields: dict[str, str]
    cut_from_bytes: int | None = None

    @property
    def cursor(self) -> str:
        """The text that `after` takes for the letters that follow this one in a list."""
        return cursor_of((self.id,))

    def to_document(self) -> dict[str, Any]:
        """Return the dead letter as a JSON object."""
        return dict(vars(self)) | {"set_aside_at": iso(self.set_aside_at)}


def list_letters(
    client: redis.Redis,
    keys: Keys,
    *,
    limit: int,
    at: float | None = None,
    order: Order | None = None,
) -> tuple[list[DeadLetter], bool]:
    """Return the oldest dead letters, and whether there are more than these.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        limit: the maximum number of letters to return.
        at: only those of the letters still there that had been set aside by this moment.
        order: one of `sorting.DEAD_LETTERS`: the newest letters instead, if it is descending.
    """
    until = "+" if at is None else str(int(at * 1000))
    read = client.xrange if order is None or not order.is_descending else client.xrevrange
    answer: Any = read(keys.dead, max=until, count=limit + 1)
    return [_letter(letter_id, fields) for letter_id, fields in answer[:limit]], len(answer) > limit


def letters_after(
    client: redis.Redis, keys: Keys, after: str | None, *, at: float | None = None
) -> Iterator[DeadLetter]:
    """Yield the dead letters that follow one, the oldest first; see `list_letters`.

    Raises:
        InvalidCursor: there can be no letter of the id `after`.
    """
    if after is not None and not _AN_ID.fullmatch(after):
        message = "the cursor is not that of a dead letter"
        raise InvalidCursor(message)
    start = "-" if after is None else f"({after}"
    end = "+" if at is None else str(int(at * 1000))
    for letter_id, fields in _pages(client, keys, start, end):
        yield _letter(letter_id, fields)


def count_letters(client: redis.Redis, keys: Keys) -> int:
    """Return how many dead letters there are."""
    return int(client.xlen(keys.dead))


def letter_ids(client: redis.Redis, keys: Keys, begins: str, *, limit: int) -> list[str]:
    """Return the ids of the oldest dead letters whose ids begin with a text.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        begins: the text; "" for any letter.
        limit: the maximum number of letters to read.
    """
    span = _span_of(begins) if begins else ("-", "+")
    page: Any = span and client.xrange(keys.dead, min=span[0], max=span[1], count=limit)
    ids = (letter_id.decode() for letter_id, _ in page or ())
    return [letter_id for letter_id in ids if letter_id.startswith(begins)]


def _letter(letter_id: bytes, fields: Fields) -> DeadLetter:
    cut = fields.get(CUT, b"")
    text = {
        name.decode(errors="replace"): _text(value) for name, value in fields.items() if name != CUT
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


def wanted_letters(
    client: redis.Redis, keys: Keys, ids: Sequence[str] | None
) -> Iterator[tuple[bytes, Fields]]:
    """Yield dead letters as Redis has them: their ids and their fields.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        ids: of the letters, or their beginnings; None for all that are there now.

    Raises:
        UnknownId: one of them does not exist; none is yielded.
        AmbiguousId: several letters' ids begin so; none is yielded.
    """
    if ids is None:
        yield from _all(client, keys)
        return
    yield from [_found(client, keys, given) for given in ids]


def _found(client: redis.Redis, keys: Keys, given: str) -> tuple[bytes, Fields]:
    message = f"there is no dead letter {given!r}"
    hint = "`trackrecord dead list` shows them"
    matches = matching(given, _ids_beginning_with(client, keys, given))
    letter_id = whole_id(
        given, matches, message, hint=hint, near=lambda: _ids_near(client, keys, given)
    )
    answer: Any = client.xrange(keys.dead, min=letter_id, max=letter_id)
    if not answer:  # someone else was quicker
        raise UnknownId(message, hint=hint)
    found: tuple[bytes, Fields] = answer[0]
    return found


def _ids_near(client: redis.Redis, keys: Keys, given: str) -> Iterator[str]:
    """Yield the ids of the letters that were set aside shortly before and after a mistyped one."""
    digits = given.partition("-")[0]
    is_time = digits.isascii() and digits.isdecimal() and len(digits) <= _MILLISECONDS_DIGITS
    moment = digits.ljust(_MILLISECONDS_DIGITS, "0") if is_time else "+"
    pages: list[Any] = [client.xrevrange(keys.dead, max=moment, count=_MOST_COMPARED)]
    if is_time:
        pages.append(client.xrange(keys.dead, min=moment, count=_MOST_COMPARED))
    for page in pages:
        for letter_id, _ in page:
            yield letter_id.decode()


def _ids_beginning_with(client: redis.Redis, keys: Keys, given: str) -> Iterator[str]:
    """Yield the ids that may begin with a text."""
    if span := _span_of(given):
        for letter_id, _ in _pages(client, keys, *span):
            yield letter_id.decode()


def _span_of(given: str) -> tuple[str, str] | None:
    """Return between which moments an id that begins with a text was made; None if none does.

    An id begins with its milliseconds.
    """
    digits = given.partition("-")[0]
    if not digits.isascii() or not digits.isdecimal() or len(digits) > _MILLISECONDS_DIGITS:
        return None
    if "-" in given:
        return digits, digits
    return digits.ljust(_MILLISECONDS_DIGITS, "0"), digits.ljust(_MILLISECONDS_DIGITS, "9")


def _all(client: redis.Redis, keys: Keys) -> Iterator[tuple[bytes, Fields]]:
    """Return all that are there now; those that come back meanwhile are left for the next time."""
    newest: Any = client.xrevrange(keys.dead, count=1)
    if newest:
        yield from _pages(client, keys, "-", newest[0][0].decode())


def _pages(client: redis.Redis, keys: Keys, start: str, end: str) -> Iterator[tuple[bytes, Fields]]:
    while True:
        page: Any = client.xrange(keys.dead, min=start, max=end, count=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        start = "(" + page[-1][0].decode()
