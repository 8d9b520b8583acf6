"""Files of an agent that hold sessions in a form that is not known: none is left out silently."""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from .source import Source

# Agents name sessions, and so their files, by such ids.
_SESSION_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MOST_FILES: Final = 50_000


def unread_remarks(sources: Iterable[Source]) -> Iterator[str]:
    """Yield a line for each agent in whose own folders lie files of sessions that are no logs."""
    for source in sources:
        homes = [home for home in source.homes() if home.is_dir()]
        known = {found for log in source.logs(homes) for found in _ids_in(str(log.path))}
        files = (Path(at, each) for home in homes for at, _, here in os.walk(home) for each in here)
        unread = [
            file
            for file in islice(files, _MOST_FILES)
            if (ids := _ids_in(file.name)) and not known.intersection(ids)
        ]
        if unread:
            told = f"{len(unread)} in all, as {min(unread)}"
            yield f"{source.name}: files with sessions in a form that is not known, {told}"


def _ids_in(text: str) -> list[str]:
    return _SESSION_ID.findall(text)
