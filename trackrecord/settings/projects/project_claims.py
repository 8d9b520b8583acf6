"""The repository that each project's name belongs to, and the folders that feed it.

A folder is named by whoever wrote it. So the first repository of a name has it, and another one
of that name gets a project of its own, with a suffix, as does each of the name of a project that
programs named before. A small SQLite file in the home, which outlives the state of the capture:
without it, the next repository of a name would have it.

Working trees are remembered, too: what is read of one that is gone belongs to the project that it
had. A repository that is moved, or whose remote changes, keeps its project.
"""

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from trackrecord.errors import StoreUnfit
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, MAX_CHARS
from trackrecord.process.folders import make_private_folder
from trackrecord.process.sqlite_files import connect

from .repositories import Repository, last_part, parents

FILE_NAME: Final = "projects.db"
_BUSY_S: Final = 30.0
_MOST_FOLDERS: Final = 100
_MOST_TREES: Final = 10_000
# Digits of a digest of the repository, as many as are needed.
_SUFFIXES: Final = (4, 8, 16, 32)
_SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS claim (
        project TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        repository TEXT NOT NULL,
        since REAL NOT NULL,
        UNIQUE (name, repository)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS folder (
        project TEXT NOT NULL,
        folder TEXT NOT NULL,
        since REAL NOT NULL,
        PRIMARY KEY (project, folder)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS tree (
        folder TEXT PRIMARY KEY,
        project TEXT NOT NULL,
        mark TEXT NOT NULL,
        at REAL NOT NULL
    ) WITHOUT ROWID;
    PRAGMA user_version = 2;
"""


@dataclass(frozen=True)
class ProjectOrigin:
    """The origin of a project's runs.

    Attributes:
        project: its name.
        name: the name that its repository has; differs where another repository had it before.
        repository: the address of its remote, or else its path; "" of a project that only a
            person's map names.
        folders: the main working trees, the first one first.
    """

    project: str
    name: str
    repository: str
    folders: tuple[str, ...]

    @property
    def is_renamed(self) -> bool:
        """Return whether another repository had its name before."""
        return self.project != self.name

    @property
    def remark(self) -> str:
        """One line on a project that did not get its repository's name, and what can be done."""
        where = self.folders[0] if self.folders else self.repository
        return (
            f"the project {self.name} is another repository's or a program's, so that the runs in "
            f"{where} belong to {self.project}; to choose a project, name the folder in "
            "capture.projects"
        )


class ProjectClaims:
    """The claims in a home, for several threads and processes at once.

    Args:
        home: the home; made when a name is claimed first.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / FILE_NAME
        self._answer = lru_cache(maxsize=1024)(lambda _writes, ask, *asked: ask(*asked))

    def _writes(self) -> object:
        """Return the count of writes in the head of SQLite's file: an answer holds as long."""
        with suppress(OSError), self._path.open("rb") as file:
            return file.read(28)[24:]
        return object()

    def project(self, repository: Repository, known: str = "") -> str:
        """Return the project of a repository; the first one of a name has that name for good.

        Args:
            repository: whose project.
            known: its project, where that is known.

        Raises:
            StoreUnfit: the file cannot be used.
        """
        project: str = self._answer(self._writes(), self._project, _storable(repository), known)
        return project

    def _project(self, repository: Repository, known: str) -> str:
        with self._opened() as connection:
            project = known or _claimed(connection, repository)
            if project is None:
                connection.execute("BEGIN IMMEDIATE")
                project = (
                    _claimed(connection, repository)
                    or _renamed(connection, repository)
                    or _claim(connection, repository)
                )
            _note_folder(connection, project, repository.folder)
            _note_tree(connection, project, repository)
        return project

    def gone(self, repository: Repository, known: str = "", *, has_git: bool) -> str:
        """Return the project of work in a folder that git does not have now, and remember it.

        Args:
            repository: what its path or the source says of it; with no identity its name alone.
            known: its project, where that is known.
            has_git: whether the source says that git had it then.

        Raises:
            StoreUnfit: the file cannot be used.
        """
        repository = _storable(repository)
        with self._opened() as connection:
            if has_git and repository.folder and not repository.is_remote:
                _take_in_below(connection, repository.folder)
            is_tree = has_git and _remembered(connection, repository.folder) is None
            repository = repository._replace(tree=repository.folder if is_tree else "")
            if not known and not repository.identity:
                if _owner(connection, repository.name) is None:
                    return repository.name
                repository = repository._replace(identity=f"name:{repository.name}")
        return self.project(repository, known)

    def claimed(self, repository: Repository) -> str | None:
        """Return the project that a repository has, None if it has none yet; nothing is written.

        Raises:
            StoreUnfit: the file cannot be used.
        """
        if not self._path.exists():
            return None
        known: str | None = self._answer(self._writes(), self._claimed, _storable(repository))
        return known

    def _claimed(self, repository: Repository) -> str | None:
        with self._opened() as connection:
            known = _claimed(connection, repository)
            if repository.tree or (known and repository.is_remote):
                return known
            found = _remembered(connection, repository.folder) or known
            return found if repository.identity else found or _of_name(connection, repository.name)

    def reserve(self, project: str) -> None:
        """Keep the name that a program gave to a project: no repository of that name gets it.

        Raises:
            StoreUnfit: the file cannot be used.
        """
        with self._opened() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO claim SELECT ?, ?, '', ? WHERE NOT EXISTS "
                "(SELECT 1 FROM folder WHERE project = ?)",
                (project, project, time.time(), project),
            )

    def note_captured(self, project: str) -> None:
        """Remember that sessions fed a project before any program named it, from wherever.

        Raises:
            StoreUnfit: the file cannot be used.
        """
        with self._opened() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO folder SELECT ?, '', ? WHERE NOT EXISTS "
                "(SELECT 1 FROM claim WHERE project = ?)",
                (project, time.time(), project),
            )

    def note_folder(self, project: str, folder: str) -> None:
        """Remember that a folder feeds a project, as long as these are not too many.

        Raises:
            StoreUnfit: the file cannot be used.
        """
        with self._opened() as connection:
            _note_folder(connection, project, _text(folder))

    def origins(self) -> list[ProjectOrigin]:
        """Return where the runs of all projects come from, by the projects' names.

        Raises:
            StoreUnfit: the file cannot be used.
        """
        if not self._path.exists():
            return []
        with self._opened() as connection:
            claims = connection.execute(
                "SELECT project, name, repository FROM claim WHERE repository <> ''"
            ).fetchall()
            folders: dict[str, list[str]] = {}
            query = "SELECT project, folder FROM folder WHERE folder <> '' ORDER BY since, folder"
            for project, folder in connection.execute(query):
                folders.setdefault(project, []).append(folder)
        named = {project: (name, repository) for project, name, repository in claims}
        found = []
        for project in sorted(named.keys() | folders.keys()):
            name, repository = named.get(project, (project, ""))
            found.append(ProjectOrigin(project, name, repository, tuple(folders.get(project, ()))))
        return found

    def forget(self, project: str) -> None:
        """Delete everything about a project; its name is free then. What is deleted is overwritten.

        Raises:
            StoreUnfit: the file cannot be used.
        """
        if not self._path.exists():
            return
        with self._opened() as connection:
            connection.execute("PRAGMA secure_delete=on")
            connection.execute("BEGIN IMMEDIATE")
            for table in ("claim", "folder", "tree"):
                connection.execute(f"DELETE FROM {table} WHERE project = ?", (project,))  # noqa: S608 - of these

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open the file; a transaction that was begun is committed, if nothing went wrong."""
        try:
            if not self._path.exists():
                make_private_folder(self._path.parent)
                # For its owner alone: it names folders.
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(connect(self._path, timeout=_BUSY_S, isolation_level=None)) as opened:
                if opened.execute("PRAGMA user_version").fetchone() < (2,):
                    opened.executescript(_SCHEMA)
                with opened:
                    yield opened
        except (sqlite3.Error, OSError) as error:
            message = (
                f"{self._path} cannot be used ({error}): make room for it, or move it away; each "
                "project's name then belongs to the next repository that has it"
            )
            raise StoreUnfit(message) from None


def _text(path: str) -> str:
    """Return what SQLite can hold of a path that may be no UTF-8."""
    return path.encode(errors="replace").decode()


def _storable(repository: Repository) -> Repository:
    return repository._replace(
        identity=_text(repository.identity),
        folder=_text(repository.folder),
        tree=_text(repository.tree),
    )


def _claimed(connection: sqlite3.Connection, repository: Repository) -> str | None:
    query = (
        "SELECT project FROM claim WHERE name = ? AND repository = ? AND repository <> '' "
        "UNION ALL SELECT project FROM tree WHERE folder = ?"
    )
    asked = (repository.name, repository.identity, repository.identity)
    row = connection.execute(query, asked).fetchone()
    return row[0] if row else None


def _claim(connection: sqlite3.Connection, repository: Repository) -> str:
    name, identity = repository.name, repository.identity
    project = next(
        each for each in _candidates(name, identity) if _owner(connection, each) in (None, identity)
    )
    connection.execute(
        "INSERT OR IGNORE INTO claim VALUES (?, ?, ?, ?)", (project, name, identity, time.time())
    )
    return project


def _renamed(connection: sqlite3.Connection, repository: Repository) -> str | None:
    """Return the project that a repository had under another path or remote, from now on too."""
    query = "SELECT folder, project FROM tree WHERE mark = ? AND mark <> '' ORDER BY at DESC"
    here = (repository.tree, repository.folder)
    for folder, project in connection.execute(query, (repository.mark,)).fetchall():
        # A copy beside it may be the beginning of something else.
        if folder in here or not os.path.lexists(folder):
            alias = repository._replace(tree=repository.identity, mark="")
            _note_tree(connection, project, alias)
            return str(project)
    return None


def _note_tree(connection: sqlite3.Connection, project: str, repository: Repository) -> None:
    known = "SELECT 1 FROM tree WHERE folder = ? AND project = ? AND mark = ?"
    row = (repository.tree, project, repository.mark)
    if not repository.tree or connection.execute(known, row).fetchone():
        return
    connection.execute("INSERT OR REPLACE INTO tree VALUES (?, ?, ?, ?)", (*row, time.time()))
    connection.execute(
        "DELETE FROM tree WHERE folder IN (SELECT folder FROM tree ORDER BY at DESC LIMIT -1 "
        "OFFSET ?)",
        (_MOST_TREES,),
    )


def _remembered(connection: sqlite3.Connection, folder: str) -> str | None:
    """Return the project of the innermost working tree that a folder was in."""
    for each in parents(folder):
        query = "SELECT project FROM tree WHERE folder = ?"
        if row := connection.execute(query, (each,)).fetchone():
            return str(row[0])
    return None


def _of_name(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the project of the first repository that has a name, or whose folder has it."""
    rows = connection.execute(
        "SELECT project, name, '' FROM claim WHERE name = ? AND repository <> '' "
        "UNION ALL SELECT project, '', folder FROM folder ORDER BY 2 DESC",
        (name,),
    )
    return next((row[0] for row in rows if name in (row[1], last_part(row[2]))), None)


def _take_in_below(connection: sqlite3.Connection, folder: str) -> None:
    """Forget the projects of folders in a working tree which were seen before it was."""
    query = (
        "SELECT tree.folder, project FROM tree JOIN claim USING (project) "
        "WHERE mark = '' AND repository = 'folder:' || tree.folder"
    )
    for below, project in connection.execute(query).fetchall():
        if below != folder and folder in parents(below):
            for table in ("tree", "claim", "folder"):
                connection.execute(f"DELETE FROM {table} WHERE project = ?", (project,))  # noqa: S608 - of these


def _note_folder(connection: sqlite3.Connection, project: str, folder: str) -> None:
    known = "SELECT count(*), coalesce(max(folder = ?), 0) FROM folder WHERE project = ?"
    count, is_known = connection.execute(known, (folder, project)).fetchone()
    if folder and not is_known and count < _MOST_FOLDERS:
        connection.execute(
            "INSERT OR IGNORE INTO folder VALUES (?, ?, ?)", (project, folder, time.time())
        )


def _owner(connection: sqlite3.Connection, project: str) -> str | None:
    query = "SELECT repository FROM claim WHERE project = ?"
    row = connection.execute(query, (project,)).fetchone()
    return row[0] if row else None


def _candidates(name: str, identity: str) -> Iterator[str]:
    # Outcomes that name no project belong to this one: no repository gets them.
    if name != DEFAULT_PROJECT:
        yield name
    digest = hashlib.blake2b(identity.encode(errors="replace"), digest_size=16).hexdigest()
    for length in _SUFFIXES:
        yield f"{name[: MAX_CHARS - 1 - length]}-{digest[:length]}"
