"""Tags that people give to patterns by hand, in addition to their kind."""

import unicodedata
from collections.abc import Iterable
from typing import Final

from trackrecord.errors import InvalidTag

from ..text.inert import one_line

MAX_CHARS: Final = 64
MAX_TAGS: Final = 20
# Every pattern is found by its kind without being told.
KINDS: Final = ("strategy", "named")


def checked_tag(given: object) -> str:
    """Return a tag as it is kept: in lower case, without the spaces around it.

    Raises:
        InvalidTag: it cannot be a tag, or it is a kind.
    """
    if not isinstance(given, str):
        raise InvalidTag(_not_a_tag(given))
    tag = plain_tag(given)
    if not tag or len(tag) > MAX_CHARS or one_line(tag, MAX_CHARS) != tag:
        raise InvalidTag(_not_a_tag(given))
    if tag in KINDS:
        message = f"{tag!r} is a kind of pattern: choose another tag"
        raise InvalidTag(message)
    return tag


def plain_tag(given: str) -> str:
    """Return a text in the form in which tags are kept and compared."""
    return unicodedata.normalize("NFC", given.strip().casefold())


def _not_a_tag(given: object) -> str:
    shown = one_line(repr(given), MAX_CHARS)
    return f"a tag is one line of 1 to {MAX_CHARS} characters, not {shown}"


def changed_tags(tags: Iterable[str], add: Iterable[str], remove: Iterable[str]) -> frozenset[str]:
    """Return a pattern's tags after a change.

    Args:
        tags: those that it has.
        add: those that it gets, checked.
        remove: those that it loses.

    Raises:
        InvalidTag: a tag is to be added and removed, or there are too many.
    """
    added, removed = set(add), set(remove)
    if both := sorted(added & removed):
        message = f"tag {both[0]!r} cannot be added and removed at once"
        raise InvalidTag(message)
    after = (frozenset(tags) | added) - removed
    if len(after) > MAX_TAGS:
        message = f"a pattern has at most {MAX_TAGS} tags; remove some of them first"
        raise InvalidTag(message)
    return after
