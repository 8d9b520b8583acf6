"""Find the known name that a misspelt one was probably meant to be."""

from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is spelt most like this one; None when none is close.

    Args:
        name: as it was typed; its letter case does not matter.
        known: the names that exist.
    """
    # Only who misspells something pays for the import.
    from difflib import get_close_matches

    by_folded = {candidate.casefold(): candidate for candidate in known}
    found = get_close_matches(name.casefold(), list(by_folded), n=1)
    return by_folded[found[0]] if found else None
