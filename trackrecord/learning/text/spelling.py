"""Find the known name or id that a misspelt one was probably meant to be."""

from collections.abc import Iterable
from typing import Final

_NAME_CUTOFF: Final = 0.6
# Ids that a program makes resemble each other: those of one hour share a third of their characters.
_ID_CUTOFF: Final = 0.75
_FEWEST_OF_A_BEGINNING: Final = 6


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is spelt most like this one; None when none is close.

    Args:
        name: as it was typed; its letter case does not matter.
        known: the names that exist. If no name as a whole is close, the part before its first
            hyphen is compared.
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    if (found := _most_like(name, by_folded, _NAME_CUTOFF)) is not None:
        return found
    by_first_part: dict[str, str] = {}
    for folded, candidate in by_folded.items():
        by_first_part.setdefault(folded.partition("-")[0], candidate)
    return _most_like(name, by_first_part, _NAME_CUTOFF)


def closest_id(given: str, known: Iterable[str]) -> str | None:
    """Return the known id that is spelt most like this one; None when none is close.

    Args:
        given: an id as it was typed, or the beginning of one; its letter case does not matter.
        known: the ids to choose from. Each costs up to a tenth of a millisecond.
    """
    by_form: dict[str, str] = {}
    beginnings: dict[str, str] = {}
    for some_id in known:
        folded = some_id.casefold()
        by_form.setdefault(folded, some_id)
        if _FEWEST_OF_A_BEGINNING <= len(given) < len(folded):
            beginnings.setdefault(folded[: len(given)], some_id)
    return _most_like(given, beginnings | by_form, _ID_CUTOFF)


def _most_like(name: str, by_form: dict[str, str], cutoff: float) -> str | None:
    # Only who misspells something pays for the import.
    from difflib import get_close_matches

    found = get_close_matches(name.casefold(), list(by_form), n=1, cutoff=cutoff)
    return by_form[found[0]] if found else None
