"""Short ids: the beginning of an id is enough as long as only one id begins with it.

What stands for no id is said to be unknown, with the nearest known id.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from sqlalchemy import Column, ColumnElement, Connection, func, or_, select

from trackrecord.errors import AmbiguousId, UnknownId
from trackrecord.learning.advice.entry_ids import PREFIXES
from trackrecord.learning.text.slug import ANTI_PREFIX
from trackrecord.learning.text.spelling import closest_id

FEWEST_CHARS: Final = 4
_MOST_NAMED: Final = 5
_SHOWN_CHARS: Final = 8
_PROMPT_CHARS: Final = 4
# The number of ids of each sort that a mistyped one is compared with; a table may have millions.
_MOST_COMPARED: Final = 500
# Ids of competence records all begin alike, so what follows counts as a beginning, too.
_COMMON_BEGINNINGS: Final = ("skill-",)
# What shortened ids hold whole: without the rest it says nothing.
_KEPT_BEGINNINGS: Final = (*_COMMON_BEGINNINGS, ANTI_PREFIX, *PREFIXES)


def only_match(given: str, matches: Iterable[str]) -> str | None:
    """Return the one id that the given text matches; None when there is none.

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


def beginnings(given: str) -> tuple[str, ...]:
    """Return what an id begins with for which a text may stand."""
    return given, *(common + given for common in _COMMON_BEGINNINGS)


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
    begins = [func.substr(column, 1, len(start)) == start for start in beginnings(given)]
    query = select(column).where(where, or_(*begins)).distinct().order_by(column)
    return list(connection.execute(query.limit(_MOST_NAMED + 1)).scalars())


def matching(given: str, known: Iterable[str]) -> list[str]:
    """Return the known ids that equal the given text or begin with it."""
    found = list(known)
    if given in found:
        return [given]
    if len(given) < FEWEST_CHARS:
        return []
    return [some_id for some_id in found if some_id.startswith(given)]


def whole_id(
    given: str,
    matches: Iterable[str],
    message: str,
    *,
    hint: str = "",
    near: Callable[[], Iterable[str]] = tuple,
) -> str:
    """Return the one id that equals the given text or begins with it.

    Args:
        given: what was typed.
        matches: the ids that begin with it, or the one that equals it.
        message: what to say when there is none.
        hint: where the ids that exist are listed, for when no id is close.
        near: returns the ids among which the nearest one is looked for; called when there is none.

    Raises:
        UnknownId: there is none; the message names the nearest id.
        AmbiguousId: there are several.
    """
    found = only_match(given, matches)
    if found is None:
        raise UnknownId(message, nearest=nearest_id(given, near()), hint=hint)
    return found


def whole_stored_id(
    connection: Connection,
    column: Column[str],
    where: ColumnElement[bool],
    given: str,
    message: str,
    *,
    hint: str = "",
) -> str:
    """Return the one id in a column that matches the given text; see `whole_id`.

    Raises:
        UnknownId: there is none; the message names the nearest id.
        AmbiguousId: there are several.
    """
    matches = ids_beginning_with(connection, column, where, given)
    return whole_id(
        given, matches, message, hint=hint, near=lambda: ids_near(connection, column, where, given)
    )


def nearest_id(given: str, known: Iterable[str]) -> str | None:
    """Return the known id with the most similar spelling; None when none is close.

    What all ids of a kind begin with need not have been typed.
    """
    by_form = {some_id: some_id for some_id in known}
    for common in _COMMON_BEGINNINGS:
        if not given.startswith(common):
            by_form |= {some_id.removeprefix(common): some_id for some_id in by_form.values()}
    found = closest_id(given, by_form)
    return None if found is None else by_form[found]


def ids_near(
    connection: Connection, column: Column[str], where: ColumnElement[bool], given: str
) -> list[str]:
    """Return the ids that a mistyped one may have been meant to be: a bounded number of any table.

    A slip of the finger leaves the beginning or the end as it was. The ids that sort next to the
    text share its beginning, as far as any do; others share its end. A table of up to 500 ids is
    returned whole.
    """
    if "\0" in given:
        return []
    ids = select(column).where(where).distinct().limit(_MOST_COMPARED)
    ending = given[len(given) // 2 :].lower()
    queries = (
        ids.where(column >= given).order_by(column),
        ids.where(column < given).order_by(column.desc()),
        ids.where(func.substr(func.lower(column), func.length(column) - len(ending) + 1) == ending),
    )
    return list({some_id for query in queries for some_id in connection.execute(query).scalars()})


def ids_next_to(
    connection: Connection, column: Column[str], where: ColumnElement[bool], ids: Iterable[str]
) -> list[str]:
    """Return the ids that sort right before and after each of some: no other begins more alike."""
    return [
        each for some_id in ids for each in ids_around(connection, column, where, some_id, some_id)
    ]


def ids_around(
    connection: Connection, column: Column[str], where: ColumnElement[bool], first: str, last: str
) -> list[str]:
    """Return the id that sorts right before one text, and the id that sorts right after another."""
    found: list[str] = []
    for query in (
        select(column).where(where, column < first).order_by(column.desc()),
        select(column).where(where, column > last).order_by(column),
    ):
        found += connection.execute(query.limit(1)).scalars()
    return found


def shortened(ids: Sequence[str]) -> dict[str, str]:
    """Return the shortest beginning of each id that no other of them has, as git shows hashes.

    Each has at least eight characters after what all ids of its kind begin with.
    """
    return {
        some_id: some_id[: max(len(short), _fewest_shown(some_id))]
        for some_id, short in _shortest(ids, 1).items()
    }


def _shortest(ids: Sequence[str], least: int) -> dict[str, str]:
    """Return the shortest beginning of each that no other of them has, from a length on."""
    ordered = sorted(set(ids))
    short = {}
    for place, some_id in enumerate(ordered):
        neighbours = ordered[max(0, place - 1) : place] + ordered[place + 1 : place + 2]
        shared = max((_shared(some_id, other) for other in neighbours), default=0)
        short[some_id] = some_id[: max(shared + 1, least)]
    return short


def session_in(outcome_id: str) -> str:
    """Return the agent and the session that the id of a captured run begins with; "" of others."""
    agent, *rest = outcome_id.split(":", 2)
    return f"{agent}:{rest[0]}" if len(rest) > 1 else ""


def shortened_run_ids(ids: Sequence[str]) -> dict[str, str]:
    """Return each id of a run as a table shows it: `540a8f92:7210` for one that was captured.

    The id of a captured run is its agent, its session and its prompt, with colons between them:
    too long for a table, and one session's ids all begin alike. The agent is left out, the session
    and the prompt are each the shortest beginning that no other of them has. Other ids are
    shortened as they are elsewhere.
    """
    parts = {some_id: some_id.split(":", 2) for some_id in ids if some_id.count(":") > 1}
    prompts: dict[str, list[str]] = {}
    for _, session, prompt in parts.values():
        prompts.setdefault(session, []).append(prompt)
    sessions = shortened([*prompts])
    ends = {session: _shortest(own, _PROMPT_CHARS) for session, own in prompts.items()}
    return shortened([some_id for some_id in ids if some_id not in parts]) | {
        some_id: f"{sessions[session]}:{ends[session][prompt]}"
        for some_id, (_, session, prompt) in parts.items()
    }


def run_ids_by_parts(
    connection: Connection, column: Column[str], where: ColumnElement[bool], given: str
) -> list[str]:
    """Return the ids of captured runs that a session, or a short id with a colon, may stand for.

    It reads the index of a project's ids, so it is for what no id begins with.
    """
    session, _, prompt = given.partition(":")
    if len(given) < FEWEST_CHARS or not session or "\0" in given:
        return []
    query = select(column).where(
        where,
        column.contains(f":{session}", autoescape=True),
        column.contains(f":{prompt}", autoescape=True),
    )
    wanted = re.compile(f"[^:]+:({re.escape(session)}[^:]*):({re.escape(prompt)}.*)", re.DOTALL)
    known = connection.execute(query.distinct().limit(_MOST_COMPARED)).scalars()
    found = {some_id: match for some_id in known if (match := wanted.fullmatch(some_id))}
    # What stands there in full is meant, not what else begins with it.
    for part, said in ((1, session), (2, prompt)):
        exact = {some_id: match for some_id, match in found.items() if match[part] == said}
        found = exact or found
    return [*found]


def _fewest_shown(some_id: str) -> int:
    common = next((each for each in _KEPT_BEGINNINGS if some_id.startswith(each)), "")
    return len(common) + _SHOWN_CHARS


def _shared(one: str, other: str) -> int:
    """Return the number of characters that both begin with."""
    length = min(len(one), len(other))
    return next((n for n in range(length) if one[n] != other[n]), length)
