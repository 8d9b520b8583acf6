"""The landed states of the store whose test inputs lie here, and how they are put in place."""

import json
import lzma
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg

_FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True)
class State:
    """A landed state: what `make.py` made with its wheel.

    Attributes:
        name: its version and its commit.
    """

    name: str

    def read(self, name: str) -> bytes:
        """Return the content of a test input."""
        return lzma.decompress((_FOLDER / self.name / f"{name}.xz").read_bytes())

    def answers(self, dialect: str) -> dict[str, Any]:
        """Return what it answered, by command; and under "moment", when it was asked."""
        answers: dict[str, Any] = json.loads(self.read(f"{dialect}.json"))
        return answers

    def unpack_home(self, home: Path) -> None:
        """Put its TRACKRECORD_HOME into a folder: a SQLite store, a spool, what Redis had."""
        # Debian 12's Python 3.11.2 has no filters.
        trusted = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        with tarfile.open(_FOLDER / self.name / "home.tar.xz") as packed:
            for member in packed.getmembers():
                member.name = member.name.removeprefix("home").lstrip("/") or "."
                packed.extract(member, home, **trusted)

    def fill(self, postgres_url: str) -> None:
        """Bring its PostgreSQL store into an empty database."""
        with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(self.read("postgresql.sql"))

    def store(self, empty_url: str, home: Path) -> str:
        """Return the URL of its store.

        Args:
            empty_url: of a database without a table, of either kind.
            home: where a SQLite store is put.
        """
        if empty_url.startswith("sqlite"):
            self.unpack_home(home)
            return f"sqlite:///{home}/trackrecord.db"
        self.fill(empty_url)
        return empty_url

    def installed(self) -> Iterator[tuple[str, str]]:
        """Yield what it installed for coding agents: paths in the user's home, and texts."""
        yield from json.loads(self.read("installed.json")).items()


STATES: Final = tuple(State(each.parent.name) for each in sorted(_FOLDER.glob("*/home.tar.xz")))
