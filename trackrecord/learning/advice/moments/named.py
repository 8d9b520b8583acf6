"""Files that a task names without their place, with the place at which they were opened."""

import re
from typing import Final

from .facts import FEWEST_SESSIONS
from .hints import Known
from .wording import code, sessions

_MOST_NAMES: Final = 3
_LONGEST_TASK: Final = 32_768
# A file's name without a folder: "cart.py", ".golangci.yml".
_NAME: Final = re.compile(r"(?<![\w/.\\@-])[\w.-]{1,80}\.[A-Za-z]\w{0,9}(?![\w/\\@-])")


def names_in(task: str) -> list[str]:
    """Return the names of files that a text holds without their folders, each once."""
    return list(dict.fromkeys(_NAME.findall(task[:_LONGEST_TASK])))


def named_text(names: list[str], known: Known) -> str:
    """Return where files were opened, three at most; "" where nothing is known of them.

    Args:
        names: the names, as `names_in` returns them.
        known: what earlier sessions show.
    """
    said = []
    for name in names:
        file = known.file(name)
        # Of fewer, the name may be that of a kind of file.
        if file is not None and file.path != name and file.sessions >= FEWEST_SESSIONS:
            said.append(f"{code(name)} is {code(file.path)} ({sessions(file.sessions)})")
    return f"Opened before: {', '.join(said[:_MOST_NAMES])}." if said else ""
