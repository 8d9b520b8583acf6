"""The calls for dead letters: outcomes that could not be learnt. They need Redis alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.errors import InvalidRequest
from trackrecord.resources.checks import Moment, limit_of, moment_of, optional_text_of, text_of

from .redis_here import redis_here

if TYPE_CHECKING:
    from trackrecord.queries.dead_letters import DeadLetter

_USUAL = 100


def list_dead_letters(
    *,
    at: Moment | None = None,
    limit: int = _USUAL,
    after: str | None = None,
    project: str | None = None,
) -> list[DeadLetter]:
    """Return the oldest dead letters, each with the reason why it could not be learnt.

    Args:
        at: only those of the letters still there that had been set aside by this moment.
        limit: the maximum number of letters to return.
        after: the `cursor` of a letter: only the letters that follow it.
        project: only the letters that say that they are of this project; all when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment, most = moment_of(at), limit_of(limit)
    project, after = optional_text_of("project", project), optional_text_of("after", after)
    from trackrecord.agent_settings import load_agent_settings
    from trackrecord.queries.letters_of_project import page_of_letters

    settings = load_agent_settings()
    with redis_here(settings) as client:
        return page_of_letters(
            client, settings.keys, limit=most, project=project, at=moment, after=after
        )


def replay_dead_letters(
    ids: Iterable[str] | None = None, *, everything: bool = False, project: str | None = None
) -> int:
    """Put dead letters back into the stream, after their cause has been mended.

    Args:
        ids: the letters' ids, or their beginnings.
        everything: whether all letters are meant, instead of `ids`.
        project: only letters that say that they are of this project are meant; any when not given.

    Returns:
        How many were put back.

    Raises:
        TrackrecordError: the message says in one line what is wrong; no letter is put back.
    """
    return _decide("replay", ids, everything=everything, project=project)


def discard_dead_letters(
    ids: Iterable[str] | None = None, *, everything: bool = False, project: str | None = None
) -> int:
    """Delete dead letters for good; the arguments are those of `replay_dead_letters`.

    Args:
        ids: the letters' ids, or their beginnings.
        everything: whether all letters are meant, instead of `ids`.
        project: only letters that say that they are of this project are meant; any when not given.

    Returns:
        How many were deleted.

    Raises:
        TrackrecordError: the message says in one line what is wrong; no letter is deleted.
    """
    return _decide("discard", ids, everything=everything, project=project)


def _decide(
    action: str, ids: Iterable[str] | None, *, everything: bool, project: str | None
) -> int:
    given = None if ids is None else [text_of("ids", each) for each in ids]
    project = optional_text_of("project", project)
    if bool(everything) == bool(given):
        message = "name the ids of dead letters, or say everything=True"
        raise InvalidRequest(message)
    from trackrecord.agent_settings import load_agent_settings
    from trackrecord.changes import dead_letters
    from trackrecord.queries.letters_of_project import ids_of_letters

    settings = load_agent_settings()
    decide = {"replay": dead_letters.replay_letters, "discard": dead_letters.discard_letters}
    with redis_here(settings) as client:
        wanted = ids_of_letters(client, settings.keys, project, given)
        return decide[action](client, settings.keys, wanted)


alist_dead_letters = awaited(list_dead_letters)
areplay_dead_letters = awaited(replay_dead_letters)
adiscard_dead_letters = awaited(discard_dead_letters)
