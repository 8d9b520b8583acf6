"""Files of an agent that hold sessions in a form that is not known: none is left out silently."""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from .source import Source

# Agents name sessions, and so their files, by such ids.
_SESSION_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MOST_FILES: Final = 50_000


class UnreadFiles(NamedTuple):
    """The files of one agent that no source can read.

    Attributes:
        agent: the agent's name.
        files: how many there are.
        example: one of them.
    """

    agent: str
    files: int
    example: Path

    @property
    def remark(self) -> str:
        """The same in one line, for people."""
        told = f"{self.files} in all, as {self.example}"
        return f"{self.agent}: files with sessions in a form that is not known, {told}"


def unread_files(sources: Iterable[Source]) -> Iterator[UnreadFiles]:
    """Yield the agents in whose own folders lie files with sessions of which no log is known."""
    for source in sources:
        homes = [home for home in source.homes() if home.is_dir()]
        known = {found for log in source.logs(homes) for found in _ids_in(str(log.path))}
        files = (
            Path(folder, name)
            for home in homes
            for folder, _, names in os.walk(home)
            for name in names
        )
        unread = [
            file
            for file in islice(files, _MOST_FILES)
            if (ids := _ids_in(file.name)) and not known.intersection(ids)
        ]
        if unread:
            yield UnreadFiles(source.name, len(unread), min(unread))


def _ids_in(text: str) -> list[str]:
    return _SESSION_ID.findall(text)
