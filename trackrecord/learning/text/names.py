"""Names in prose: words that are spelt as no plain word is, so that two texts rarely share one."""

import re
from typing import Final

_MOST_CHARS: Final = 4000
_TOKEN: Final = re.compile(r"[^\W_](?:[\w.+@/-]{0,126}\w)?")
# `ERESOLVE`, `book_flight`, `notFound`, `vite.config`, `@scope/package`, `utf8`.
_NAME: Final = re.compile(
    r"[A-Z0-9]*[A-Z][A-Z0-9]{2,}|.*(?:_|[a-z][A-Z]|[A-Z]{2}[a-z]|\w[./@+]\w|[a-z]\d).*"
)


def names_in(text: str) -> frozenset[str]:
    """Return the names of tools, errors, files and packages in a text, case folded.

    Told by their spelling alone, so that a package whose name is a plain word is not among them.
    """
    return frozenset(
        token.casefold()
        for token in _TOKEN.findall(text[:_MOST_CHARS])
        # Most words have letters of one case alone, which the pattern takes longer to tell.
        if not (token.islower() and token.isalpha()) and _NAME.fullmatch(token)
    )
