"""trackrecord backup and restore: the whole store in one file, while outcomes are learnt."""

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import select, text

from tests.store.teaching import outcome, teach
from tests.worker.working import recorded_ids
from trackrecord.errors import TransferRefused
from trackrecord.process.sqlite_files import connect, use_write_ahead_log
from trackrecord.settings.settings import load_settings
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.database.migrate import migrate, store_at
from trackrecord.store.outcomes.tables import projects
from trackrecord.store.transfer.backup import restore_backup, write_backup
from trackrecord_cli.main import run
from trackrecord_worker.up.home_lock import note_pids, take_home


@contextmanager
def sqlite_store(folder: Path, name: str = "trackrecord.db") -> Iterator:
    """A migrated store in a file."""
    folder.mkdir(exist_ok=True)
    with store_at(f"sqlite:///{folder / name}") as engine:
        yield engine


def test_what_was_learnt_before_a_backup_began_is_in_it(tmp_path):
    """While a worker goes on; in an empty home it is a sound store, and learns on."""
    acknowledged: list[str] = []
    over = threading.Event()

    def learn_on() -> None:
        with sqlite_store(tmp_path / "one") as engine:
            while not over.is_set():
                name = str(len(acknowledged))
                teach(engine, [outcome(name, patterns=["p"])])
                acknowledged.append(f"o{name}")

    worker = threading.Thread(target=learn_on)
    worker.start()
    try:
        backups = []
        with sqlite_store(tmp_path / "one") as engine:
            for number in range(3):
                while len(acknowledged) < 20 * (number + 1):
                    time.sleep(0.01)
                before = set(acknowledged)
                file = tmp_path / f"backup{number}"
                written = write_backup(engine, file)
                backups.append((file, before, written))
    finally:
        over.set()
        worker.join()
    for number, (file, before, written) in enumerate(backups):
        assert file.stat().st_mode & 0o777 == 0o600
        with sqlite_store(tmp_path / f"other{number}") as engine:
            restore_backup(engine, file, now=time.time())
            there = recorded_ids(engine)
            assert before <= there
            assert len(there) == written.outcomes < len(acknowledged)
            with reading(engine) as connection:
                assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
                assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            teach(engine, [outcome("1", patterns=["p"]), outcome("later")])
            assert recorded_ids(engine) == there | {"olater"}


def test_a_restored_store_is_newer_than_what_was_cached_from_the_one_before(tmp_path):
    """Else rankings of the replaced store would be shown until the next outcome."""
    with sqlite_store(tmp_path) as engine:
        teach(engine, [outcome("a")])
        write_backup(engine, tmp_path / "backup")
        for number in range(5):
            teach(engine, [outcome(f"b{number}")])
        with reading(engine) as connection:
            before = connection.execute(select(projects.c.revision)).scalar_one()
        restore_backup(engine, tmp_path / "backup", now=time.time() + 1)
        with reading(engine) as connection:
            assert connection.execute(select(projects.c.revision)).scalar_one() > before
        assert recorded_ids(engine) == {"oa"}


def test_what_is_no_backup_changes_nothing(tmp_path, home, monkeypatch, capfd):
    """A text, another database, one of a newer version, a damaged one, and one that is there.

    Neither the store nor how far logs have been read.
    """
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    (home / "capture.db").write_text("positions")
    with store_at(load_settings().effective_database_url) as engine:
        for number in range(200):
            teach(engine, [outcome(f"o{number}", description="x" * 500)])
        good = tmp_path / "good"
        write_backup(engine, good)
        with pytest.raises(TransferRefused, match="is there already"):
            write_backup(engine, good)
        (tmp_path / "text").write_text("no database")
        sqlite3.connect(tmp_path / "empty").close()
        newer = tmp_path / "newer"
        newer.write_bytes(good.read_bytes())
        with sqlite3.connect(newer) as copy:
            copy.execute("UPDATE alembic_version SET version_num = '9999', made_by = '99.0.0'")
        damaged = tmp_path / "damaged"
        content = bytearray(good.read_bytes())
        content[16384 * 20 : 16384 * 24] = b"\xff" * 16384 * 4
        damaged.write_bytes(content)
        for name, reason in (
            ("text", "is not a backup"),
            ("empty", "is not a backup"),
            ("newer", "is of trackrecord 99.0.0"),
            ("damaged", "is damaged"),
        ):
            assert run(["restore", str(tmp_path / name), "--yes"]) != 0
            assert f"{tmp_path / name} {reason}" in capfd.readouterr().err
        assert len(recorded_ids(engine)) == 200
        assert (home / "capture.db").read_text() == "positions"
        assert [each.name for each in tmp_path.glob(".*")] == []


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER t AFTER UPDATE ON projects BEGIN DELETE FROM outcomes; END",
        "CREATE VIEW v AS SELECT * FROM outcomes",
        "ALTER TABLE outcomes RENAME COLUMN outcome_id TO name",
        "ALTER TABLE outcomes ADD COLUMN more TEXT", "CREATE TABLE more (id INTEGER)",
        "CREATE INDEX more ON outcomes (received_at)", "DROP TABLE removed_outcomes",
        "CREATE VIRTUAL TABLE more USING fts5(words)",
    ],
)  # fmt: skip
def test_a_backup_with_another_schema_is_refused(tmp_path, change):
    """What would run by itself, and what the store could not be used with; the store stays."""
    file = tmp_path / "backup"
    with sqlite_store(tmp_path / "one") as engine:
        teach(engine, [outcome("1", patterns=["p"])])
        write_backup(engine, file)
        with closing(sqlite3.connect(file)) as database:
            database.execute(change)
            database.commit()
        with pytest.raises(TransferRefused, match="another schema"):
            restore_backup(engine, file, now=time.time())
        assert recorded_ids(engine) == {"o1"}


def test_no_schema_is_trusted(tmp_path):
    """By no connection to a file of SQLite's: all are opened in one place."""
    with sqlite_store(tmp_path / "one") as engine, reading(engine) as connection:
        assert connection.execute(text("PRAGMA trusted_schema")).scalar() == 0
    root = Path(__file__).parents[2]
    folders = ("trackrecord", "producers", "worker", "consolidation", "capture", "door", "cli")
    modules = [path for folder in folders for path in (root / folder).rglob("*.py")]
    opening = [path.name for path in modules if "sqlite3.connect(" in path.read_text()]
    assert opening == ["sqlite_files.py"]


def test_who_opens_a_new_file_beside_another_one(tmp_path, monkeypatch):
    """Waits for it as for any lock, and no longer: SQLite itself refuses at once."""
    file = tmp_path / "new.db"
    with closing(connect(file, isolation_level=None)) as first, closing(connect(file)) as second:
        first.executescript("BEGIN IMMEDIATE; CREATE TABLE own (id)")
        monkeypatch.setattr(time, "sleep", lambda _seconds: None)
        second.execute("PRAGMA busy_timeout = 50")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            use_write_ahead_log(second)
        monkeypatch.setattr(time, "sleep", lambda _seconds: first.execute("COMMIT"))
        use_write_ahead_log(second)
        assert second.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_postgresql_names_its_own_programs(store):
    """In one line each, before anything is done."""
    if store.dialect.name == "sqlite":
        pytest.skip("SQLite has none")
    with pytest.raises(TransferRefused, match="pg_dump --format custom --file FILE"):
        write_backup(store, Path("there"))
    with pytest.raises(TransferRefused, match=r"pg_restore .* FILE"):
        restore_backup(store, Path("there"), now=1.0, begin=pytest.fail)


def test_the_commands(home, monkeypatch, capfd):
    """Not while `up` runs, not over outcomes without --yes; logs are read anew afterwards."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    engine = connect_store(load_settings().effective_database_url)
    migrate(engine)
    teach(engine, [outcome("a")])
    file = home / "backup.db"
    assert run(["backup", str(file), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["outcomes"] == 1
    assert run(["backup", str(home / "another.db")]) == 0
    assert "it is not known how many outcomes wait" in capfd.readouterr().out
    teach(engine, [outcome("b")])
    with take_home(home) as lock:
        note_pids(lock, {"up": os.getpid()})
        assert run(["restore", str(file), "--yes"]) != 0
        assert "already running" in capfd.readouterr().err
        assert recorded_ids(engine) == {"oa", "ob"}
    assert run(["restore", str(file)]) == 2
    assert "confirm it with --yes" in capfd.readouterr().err
    (home / "capture.db").write_text("positions")
    assert run(["restore", str(file), "--yes"]) == 0
    assert "1 outcome of 1 project restored" in capfd.readouterr().out
    assert recorded_ids(engine) == {"oa"}
    assert not (home / "capture.db").exists()
    engine.dispose()
