"""Dead letters: outcomes that could not be learnt, the newest first."""

from collections.abc import Callable, Sequence
from typing import Final

import redis

from trackrecord.errors import InvalidRequest
from trackrecord.learning.text.numerals import counted
from trackrecord.redis.keys import Keys
from trackrecord.resources.operation.dead_letters import (
    discard_letters,
    read_letters,
    replay_letters,
)

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.listing import listed
from ..requests.page_request import PageRequest

_PATH: Final = "/dead-letters"
_LONGEST_BODY: Final = 2000
# Each comes with its body, which may have a megabyte.
_MOST_SHOWN: Final = 100
_Decide = Callable[[redis.Redis, Keys, Sequence[str] | None], int]


def shown(asked: PageRequest) -> PageView:
    """Show the newest: of all projects, or of the only one that the caller may see."""
    with asked.redis() as client:
        keys, project = asked.service.settings.keys, _whose(asked)
        found = read_letters(
            client, keys, project=project, newest_first=True, limit=_MOST_SHOWN + 1
        )
        letters = list(found)
    values = {
        "listing": listed(asked, letters[:_MOST_SHOWN], keys={}, text=lambda each: each.reason),
        "is_any": bool(letters),
        "is_more": len(letters) > _MOST_SHOWN,
        "until": letters[0].id if letters else "",
        "longest": _LONGEST_BODY,
    }
    return PageView("lists/dead_letters.html", "Dead letters", values)


def replay(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Put letters back into the stream."""
    ids = _chosen(asked, form)
    letters = counted(len(ids), "dead letter")
    question = (
        f"Put {letters} back into the stream? Workers try to learn them again; what still cannot "
        "be learnt is set aside again."
    )
    return _deed(asked, replay_letters, ids, question, f"Replay {letters}", "put back")


def discard(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Delete letters for good."""
    ids = _chosen(asked, form)
    letters = counted(len(ids), "dead letter")
    question = f"Delete {letters} for good? What they report will never be learnt."
    button = f"Discard {letters}"
    return _deed(asked, discard_letters, ids, question, button, "discarded", dangerous=True)


def _deed(
    asked: PageRequest,
    decide: _Decide,
    ids: Sequence[str],
    question: str,
    button: str,
    done: str,
    *,
    dangerous: bool = False,
) -> ConfirmedAction:
    def do(_by: str, _reason: str | None) -> str:
        with asked.redis() as client:
            count = decide(client, asked.service.settings.keys, ids)
        return f"{counted(count, 'dead letter')} {done}."

    return ConfirmedAction(
        question, button, do, asked.link(_PATH), reason="none", dangerous=dangerous
    )


def _whose(asked: PageRequest) -> str | None:
    return None if asked.sees_all else asked.project


def _chosen(asked: PageRequest, form: Form) -> Sequence[str]:
    """Return the letters that were ticked, or all; newer ones are left alone.

    Raises:
        InvalidRequest: that is none.
    """
    ticked, until = set(form.texts("letter")), _place(form.text("until"))
    with asked.redis() as client:
        letters = read_letters(client, asked.service.settings.keys, project=_whose(asked))
        found = [
            each.id
            for each in letters
            if (not ticked or each.id in ticked) and _place(each.id) <= until
        ]
    if not found:
        message = "no dead letter is chosen, or others have decided about them already"
        raise InvalidRequest(message)
    return found


def _place(letter: str) -> tuple[int, ...]:
    """Return the place of a letter in the order in which they were set aside."""
    try:
        return tuple(int(each) for each in letter.split("-"))
    except ValueError:
        message = f"{letter!r:.80} is not the id of a dead letter"
        raise InvalidRequest(message) from None
