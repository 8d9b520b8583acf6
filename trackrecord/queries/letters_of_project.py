"""Dead letters a page at a time, and of one project alone, as far as they say which one it is."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import redis

from trackrecord.project_names import DEFAULT_PROJECT
from trackrecord.redis_keys import Keys
from trackrecord.resources.paging import place_of
from trackrecord.wire.kinds import KINDS

from .dead_letters import DeadLetter, letters_after
from .short_ids import matching, whole_id

# The fields of an entry that hold a body, which names its project.
_BODIES: Final = tuple(kind.field for kind in KINDS.values())


class LetterPlace(NamedTuple):
    """A place in the order of dead letters: the oldest first.

    Attributes:
        id: of the letter.
    """

    id: str


class _Named(msgspec.Struct):
    project: str = DEFAULT_PROJECT


_decoder = msgspec.json.Decoder(_Named)


def project_of(letter: DeadLetter) -> str | None:
    """Return the project that a dead letter is of; None if it does not say."""
    bodies = [letter.body, *(letter.fields.get(name, "") for name in _BODIES)]
    for body in bodies:
        if body:
            try:
                return _decoder.decode(body).project
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                return None
    return None


def page_of_letters(
    client: redis.Redis,
    keys: Keys,
    *,
    limit: int | None,
    project: str | None = None,
    at: float | None = None,
    after: str | None = None,
) -> list[DeadLetter]:
    """Return the oldest dead letters.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        limit: the maximum number of letters to return; None for all.
        project: only those that say that they are of this project; None for all.
        at: only those of the letters still there that had been set aside by this moment.
        after: the cursor of a letter: only those that follow it.

    Raises:
        InvalidCursor: `after` is not the cursor of a letter.
    """
    place = None if after is None else place_of(after, LetterPlace)
    found: list[DeadLetter] = []
    for letter in letters_after(client, keys, None if place is None else place.id, at=at):
        if project is None or project_of(letter) == project:
            found.append(letter)
            if len(found) == limit:
                break
    return found


def ids_of_letters(
    client: redis.Redis, keys: Keys, project: str | None, ids: Sequence[str] | None
) -> Sequence[str] | None:
    """Return the ids of the letters that are meant, of one project alone.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        project: the project; None for all of them.
        ids: of letters, or their beginnings; None for all that are there.

    Raises:
        UnknownId: the project has no such letter.
        AmbiguousId: several letters' ids begin so.
    """
    if project is None:
        return ids
    known = [letter.id for letter in _of_project(client, keys, project)]
    if ids is None:
        return known
    return [
        whole_id(
            given,
            matching(given, known),
            f"project {project!r} has no dead letter {given!r}",
            near=lambda: known,
        )
        for given in ids
    ]


def count_letters_of(client: redis.Redis, keys: Keys, project: str) -> int:
    """Return how many dead letters say that they are of a project."""
    return sum(1 for _ in _of_project(client, keys, project))


def _of_project(client: redis.Redis, keys: Keys, project: str) -> Iterator[Any]:
    return (each for each in letters_after(client, keys, None) if project_of(each) == project)
