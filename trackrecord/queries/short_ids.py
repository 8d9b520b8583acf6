"""Short ids: the beginning of an id stands for the whole one as long as only one id has it."""

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Column, ColumnElement, Connection, func, or_, select

from trackrecord.errors import AmbiguousId, UnknownId

FEWEST_CHARS: Final = 4
_MOST_NAMED: Final = 5
_SHOWN_CHARS: Final = 8
# Ids of competence records all begin alike, so what follows counts as a beginning, too.
_COMMON_BEGINNINGS: Final = ("skill-",)


def only_match(given: str, matches: Iterable[str]) -> str | None:
    """Return the one id that the given text stands for; None when there is none.

    Args:
        given: what was typed.
        matches: the ids that begin with it, or the one that equals it.

    Raises:
        AmbiguousId: there are several; the message lists up to five of them.
    """
    found = sorted(set(matches))
    if given in found:
        return given
    if len(found) > 1:
        named = ", ".join(found[:_MOST_NAMED])
        more = ", …" if len(found) > _MOST_NAMED else ""
        message = f"{given!r} is ambiguous: {named}{more}; type more characters"
        raise AmbiguousId(message)
    return found[0] if found else None


def ids_beginning_with(
    connection: Connection, column: Column[str], where: ColumnElement[bool], given: str
) -> list[str]:
    """Return the id that equals the given text, else some of the ids that begin with it.

    Args:
        connection: a reading transaction.
        column: holds the ids.
        where: which rows count.
        given: what was typed; fewer than four characters stand for themselves alone.
    """
    if "\0" in given:
        return []
    exact = select(column).where(where, column == given).limit(1)
    if (whole := connection.execute(exact).scalar()) is not None:
        return [whole]
    if len(given) < FEWEST_CHARS:
        return []
    begins = [
        func.substr(column, 1, len(start)) == start
        for start in (given, *(common + given for common in _COMMON_BEGINNINGS))
    ]
    query = select(column).where(where, or_(*begins)).distinct().order_by(column)
    return list(connection.execute(query.limit(_MOST_NAMED + 1)).scalars())


def matching(given: str, known: Iterable[str]) -> list[str]:
    """Return those of the known ids that equal the given text or begin with it."""
    found = list(known)
    if given in found:
        return [given]
    if len(given) < FEWEST_CHARS:
        return []
    return [some_id for some_id in found if some_id.startswith(given)]


def whole_id(given: str, matches: Iterable[str], message: str) -> str:
    """Return the one id that the given text stands for.

    Raises:
        UnknownId: with this message, when there is none.
        AmbiguousId: there are several.
    """
    found = only_match(given, matches)
    if found is None:
        raise UnknownId(message)
    return found


def shortened(ids: Sequence[str]) -> dict[str, str]:
    """Return the shortest beginning of each id that no other of them has, as git shows hashes.

    Each has at least eight characters after what all ids of its kind begin with.
    """
    ordered = sorted(set(ids))
    short = {}
    for place, some_id in enumerate(ordered):
        neighbours = ordered[max(0, place - 1) : place] + ordered[place + 1 : place + 2]
        shared = max((_shared(some_id, other) for other in neighbours), default=0)
        short[some_id] = some_id[: max(shared + 1, _fewest_shown(some_id))]
    return short


def _fewest_shown(some_id: str) -> int:
    common = next((each for each in _COMMON_BEGINNINGS if some_id.startswith(each)), "")
    return len(common) + _SHOWN_CHARS


def _shared(one: str, other: str) -> int:
    """Return the number of characters that both begin with."""
    length = min(len(one), len(other))
    return next((n for n in range(length) if one[n] != other[n]), length)
