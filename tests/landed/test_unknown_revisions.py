"""Stores, backups and exports of a revision that is not known: one line, and nothing changes."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

import trackrecord
from trackrecord_cli.main import run

_NEWER = f"is of trackrecord 99.0.0 (revision noted), and this is {trackrecord.__version__}"
_EARLIER = "is of a trackrecord from before the first release, or of another program"
# The revision, and what is said of it.
_STATES = {
    "newer": ("noted", f"{_NEWER}: install that version, or "),
    "earlier": ("r0006_speakers", f"{_EARLIER} (revision r0006_speakers), and is not read: "),
    # The last states before it had given their tables its name.
    "just earlier": ("first_release", f"{_EARLIER} (revision first_release), and is not read: "),
    "of another program": ("3f2a9c", f"{_EARLIER} (revision 3f2a9c), and is not read: "),
}
_COMMANDS = (
    "amend o --success --reason seen", "backup {folder}/a-backup", "benchmark run",
    "competences add --tool a --trigger b", "consolidate", "criteria list", "effect",
    "explain o", "export {folder}/an-export", "feedback give helpful --pattern p",
    "forget --source s --yes", "import jsonl {export}", "lessons list", "memories add m",
    "patterns list", "projects", "rebuild", "restore {backup} --yes", "runs list", "status",
    "token list",
)  # fmt: skip


@pytest.fixture(params=_STATES)
def store(request, migrated_home, monkeypatch):
    """The home's store of a revision that is not known, and what is said of it."""
    revision, said = _STATES[request.param]
    file = migrated_home / "trackrecord.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])
        if revision == "noted":
            connection.execute("UPDATE alembic_version SET made_by = '99.0.0'")
        else:
            connection.execute("ALTER TABLE alembic_version DROP COLUMN made_by")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    monkeypatch.setenv("TRACKRECORD_HOME", str(migrated_home))
    return file, said


@pytest.fixture
def good(new_store, tmp_path):
    """A backup and an export of this version."""
    export = tmp_path / "export.jsonl"
    header = {"trackrecord_export": 1, "export_id": "a", "project": "p", "exported_at": 1.0}
    export.write_text(json.dumps(header, separators=(",", ":")) + "\n")
    return {"backup": new_store().url.database, "export": export, "folder": tmp_path}


def _digest(file) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_every_command_says_so_and_changes_nothing(store, good, capfd):
    """Also those that would replace it, or only read."""
    file, said = store
    before = _digest(file)
    for command in _COMMANDS:
        assert run(command.format(**good).split()) not in (0, 1), command
        out, err = capfd.readouterr()
        line = (
            f"trackrecord: the database {said}name another database with TRACKRECORD_DATABASE_URL"
        )
        assert (out, err) == ("", f"{line}\n"), command
    assert _digest(file) == before
    assert not list(good["folder"].glob("a*"))


@pytest.mark.parametrize("store", ["newer"], indirect=True)
def test_up_says_so_and_ends(store):
    """Before it starts anything that would write."""
    file, said = store
    before = _digest(file)
    command = [sys.executable, "-m", "trackrecord", "up"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode not in (0, 1)
    assert done.stderr.count("\n") == 1
    assert f"the database {said}" in done.stderr
    assert _digest(file) == before


def test_a_backup_of_it_is_not_restored(store, tmp_path, monkeypatch, capfd):
    """The store that is there stays."""
    file, said = store
    monkeypatch.setenv("TRACKRECORD_HOME", str(tmp_path))
    assert run(["projects"]) == 0
    here = tmp_path / "trackrecord.db"
    before = _digest(here)
    capfd.readouterr()
    assert run(["restore", str(file), "--yes"]) not in (0, 1)
    assert capfd.readouterr().err == f"trackrecord: {file} {said}restore another backup\n"
    assert _digest(here) == before
