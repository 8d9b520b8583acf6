"""Reaching the store: many processes that start at once, and stores that cannot be used."""

import contextlib
import os
import sqlite3
import tempfile
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.support.dying import exit_code_of
from tests.worker.working import until
from trackrecord.errors import StoreBusy, StoreUnavailable
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.leases import advisory_lock
from trackrecord.store.database.migrate import LOCK_KEY, migrate
from trackrecord_cli.main import run

_NOBODY = 65_534

_AT_ONCE = 12


def _twelve_at_once(postgres_url: str | None) -> None:
    """Run first commands in processes that are forked when all is imported: none is ahead."""
    if postgres_url:
        os.environ["TRACKRECORD_DATABASE_URL"] = postgres_url
    _at_once(1)  # imports what the others need
    if postgres_url:
        _empty(postgres_url)
    _at_once(_AT_ONCE)


def _at_once(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="tr-") as home:
        os.environ["TRACKRECORD_HOME"] = home
        waits, opens = os.pipe()
        started = []
        for _ in range(count - 1):
            if (process := os.fork()) == 0:
                os.close(opens)
                os.read(waits, 1)
                os._exit(run(["projects"]))
            started.append(process)
        os.close(opens)
        os.close(waits)
        ended = [run(["projects"])]
        ended += [os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in started]
    assert ended == [0] * count, ended


def _empty(postgres_url: str) -> None:
    engine = connect_store(postgres_url)
    with writing(engine) as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()


def test_twelve_first_commands_at_once(empty_store_url):
    """One makes the tables, the others wait for it: all succeed."""
    postgres_url = None if empty_store_url.startswith("sqlite") else empty_store_url
    assert exit_code_of(_twelve_at_once, postgres_url) == 0


def test_whoever_makes_the_tables_is_waited_for(empty_store_url):
    """However long it takes: the engine's own patience with a lock is for what takes moments."""
    slow, quick = (connect_store(empty_store_url, timeout_s=each) for each in (60.0, 0.3))
    begun = threading.Event()

    def make_slowly() -> None:
        with writing(slow) as connection:
            # The first of the tables; with it, what a file needs to have others wait.
            connection.execute(text("CREATE TABLE begun (id INTEGER)"))
            connection.execute(text("DROP TABLE begun"))
            advisory_lock(connection, LOCK_KEY)
            begun.set()
            time.sleep(5 * 0.3)

    maker = threading.Thread(target=make_slowly)
    maker.start()
    assert begun.wait(60)
    try:
        assert migrate(quick) is True
    finally:
        maker.join()
        slow.dispose()
        quick.dispose()


def test_a_folder_with_a_percent_sign(tmp_path):
    """And whatever else means something to others."""
    engine = connect_store(f"sqlite:///{tmp_path}/50% of it/a db.sqlite")
    assert migrate(engine) is True
    engine.dispose()


def test_a_folder_that_cannot_be_made(tmp_path):
    """Is a store that is away, not an error of another kind."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="folder of the database"):
        connect_store(f"sqlite:///{tmp_path}/file/trackrecord.db")


def test_no_server(tmp_path):
    """One line that names the setting, and no password."""
    engine = connect_store(f"postgresql+psycopg://me:s3cr3t@/x?host={tmp_path}", timeout_s=1.0)
    with pytest.raises(StoreUnavailable, match="TRACKRECORD_DATABASE_URL") as said:
        migrate(engine)
    assert "\n" not in str(said.value)
    assert "s3cr3t" not in str(said.value)


def test_a_database_of_another_kind(tmp_path):
    """A file that is no database is said to be none; nothing is written into it."""
    path = tmp_path / "notes.txt"
    path.write_text("These are notes. " * 100)
    engine = connect_store(f"sqlite:///{path}")
    with pytest.raises(StoreUnavailable):
        migrate(engine)
    engine.dispose()
    assert path.read_text() == "These are notes. " * 100


def _write_where_it_was_read_only(path: Path) -> None:
    """Write to a store that was read-only when it was first opened; run by a user without rights.

    The superuser could have written.
    """
    files = list(path.parent.iterdir())
    assert len(files) == 3  # also its log, and the memory that the processes share
    if os.geteuid() == 0:
        for each in (path.parent, *files):
            os.chown(each, _NOBODY, _NOBODY)
        os.setegid(_NOBODY)
        os.seteuid(_NOBODY)
    for each in files:
        each.chmod(0o400)
    engine = connect_store(f"sqlite:///{path}")
    with reading(engine) as one, reading(engine) as another:
        for connection in (one, another):
            connection.execute(text("SELECT count(*) FROM outcomes"))
    # The error is held, as by a log or a task that is not collected yet.
    with pytest.raises(StoreUnavailable, match="readonly") as held, writing(engine) as connection:
        connection.execute(text("DELETE FROM outcomes"))
    for each in files:
        each.chmod(0o600)
    with writing(engine) as connection:
        connection.execute(text("DELETE FROM outcomes"))
    assert held.value


def test_a_file_that_was_read_only_for_a_while():
    """Is written by the same process afterwards: SQLite would keep a connection as it opened it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trackrecord.db"
        engine = connect_store(f"sqlite:///{path}")
        migrate(engine)
        with reading(engine) as connection:
            connection.execute(text("SELECT count(*) FROM outcomes"))
            assert exit_code_of(_write_where_it_was_read_only, path) == 0
        engine.dispose()


def test_postgresql_that_may_only_read_now_blames_no_outcome(postgres_url):
    """A standby that is about to be promoted, or an administrator's work: outcomes wait for it."""
    engine = connect_store(postgres_url)
    migrate(engine)
    with pytest.raises(StoreUnavailable, match="read-only"), writing(engine) as connection:
        connection.exec_driver_sql(
            "SET TRANSACTION READ ONLY; INSERT INTO projects (name, revision) VALUES ('p', 0)"
        )
    engine.dispose()


def test_a_session_that_postgresql_has_ended_blames_no_outcome(postgres_url):
    """A worker that was frozen in a transaction goes on: it learns the outcome again."""
    patient, engine = connect_store(postgres_url), connect_store(postgres_url, timeout_s=0.02)
    migrate(patient)
    patient.dispose()

    def write_after(seconds: float) -> None:
        with writing(engine) as connection:
            time.sleep(seconds)
            connection.exec_driver_sql("SELECT 1")

    def goes_on() -> bool:
        with contextlib.suppress(StoreUnavailable):  # a machine this busy froze it once more
            write_after(0.0)
            return True
        return False

    with pytest.raises(StoreUnavailable, match="idle-in-transaction"):
        write_after(1.0)
    until(goes_on)
    engine.dispose()


def test_a_lock_is_waited_for_so_long(tmp_path):
    """And no longer; the message says what holds it up."""
    path = tmp_path / "trackrecord.db"
    engine = connect_store(f"sqlite:///{path}", timeout_s=0.1)
    migrate(engine)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(StoreBusy, match="locked by another process"), writing(engine):
            pass
        with reading(engine) as connection:  # who only reads is not held up
            assert connection.execute(text("SELECT count(*) FROM outcomes")).scalar() == 0
    finally:
        holder.close()
        engine.dispose()
