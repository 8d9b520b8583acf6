"""Reaching the store: many processes that start at once, and stores that cannot be used."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from trackrecord.errors import SchemaTooNew, StoreBusy, StoreUnavailable
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate

MIGRATE = (
    "import sys; from trackrecord.store.database.engine import connect_store; "
    "from trackrecord.store.database.migrate import migrate; "
    "print(migrate(connect_store(sys.argv[1], timeout_s=30.0)))"
)


def test_many_processes_at_once(empty_store_url: str) -> None:
    """One does the work."""
    command = [sys.executable, "-c", MIGRATE, empty_store_url]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=60) for process in started]
    assert sorted(out.strip() for out, _ in answers) == ["False", "False", "True"], answers


def test_a_folder_with_a_percent_sign(tmp_path: Path) -> None:
    """And whatever else means something to others."""
    engine = connect_store(f"sqlite:///{tmp_path}/50% of it/a db.sqlite")
    assert migrate(engine) is True
    engine.dispose()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """Is a store that is away, not an error of another kind."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="folder of the database"):
        connect_store(f"sqlite:///{tmp_path}/file/trackrecord.db")


def test_no_server(tmp_path: Path) -> None:
    """One line that names the setting, and no password."""
    engine = connect_store(f"postgresql+psycopg://me:s3cr3t@/x?host={tmp_path}", timeout_s=1.0)
    with pytest.raises(StoreUnavailable, match="TRACKRECORD_DATABASE_URL") as said:
        migrate(engine)
    assert "\n" not in str(said.value)
    assert "s3cr3t" not in str(said.value)


def test_a_database_of_another_kind(tmp_path: Path) -> None:
    """A file that is no database is said to be none; nothing is written into it."""
    path = tmp_path / "notes.txt"
    path.write_text("These are notes. " * 100)
    engine = connect_store(f"sqlite:///{path}")
    with pytest.raises(StoreUnavailable):
        migrate(engine)
    engine.dispose()
    assert path.read_text() == "These are notes. " * 100


def test_a_lock_is_waited_for_so_long(tmp_path: Path) -> None:
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


def test_a_newer_database_is_not_touched(empty_store_url: str) -> None:
    """The message says what to do."""
    engine = connect_store(empty_store_url)
    migrate(engine)
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew, match="install that version, or name another database"):
        migrate(engine)
    with reading(engine) as connection:
        version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    engine.dispose()
    assert version == "9999"
