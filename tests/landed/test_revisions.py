"""Stores of landed states are upgraded to what a fresh one is, now and by the next revision."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

import trackrecord
from tests.landed.states import STATES, State
from tests.store.schema_of import schema_of
from trackrecord.errors import SchemaTooNew
from trackrecord.store.database.dialects import ALL
from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.database.migrate import migrate, newest_revision

_NEXT_VERSION = "99.0.0"
_REVISION = '''"""A note of each lease."""

import sqlalchemy as sa
from alembic import op

revision = "noted"
down_revision = "{newest}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("leases", sa.Column("note", sa.String(64), server_default="", nullable=False))
'''
_MIGRATE = """
import sys
from trackrecord.store.database.dialects import ALL
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate
print(migrate(connect_store(sys.argv[1], timeout_s=30.0)))
"""


@pytest.fixture(params=STATES, ids=lambda state: state.name)
def state(request) -> State:
    """Each landed state."""
    return request.param


@pytest.fixture(params=list(ALL))
def urls(request, tmp_path) -> tuple[str, str]:
    """URLs of a database without a table, and of a fresh store; the test runs on each dialect."""
    if request.param == "sqlite":
        found = f"sqlite:///{tmp_path}/empty.db", f"sqlite:///{tmp_path}/fresh.db"
        engine = connect_store(found[1])
        migrate(engine)
        engine.dispose()
        return found
    return (
        request.getfixturevalue("postgres_url"),
        request.getfixturevalue("migrated_postgres_url"),
    )


@pytest.fixture
def next_version(tmp_path) -> Callable[[str], str]:
    """Migrates a store by a version with one more column, in a process; returns what it says."""
    root = Path(trackrecord.__file__).parent
    package = tmp_path / "next" / root.name
    shutil.copytree(root, package, ignore=shutil.ignore_patterns("__pycache__"))
    for file, found, put in (
        ("process/version.py", r'__version__ = ".*"', f'__version__ = "{_NEXT_VERSION}"'),
        (
            "store/database/leases.py",
            r'(\n    Column\("until".*\n)',
            r'\1    Column("note", String(64), server_default="", nullable=False),\n',
        ),
    ):
        changed, count = re.subn(found, put, (package / file).read_text())
        assert count == 1
        (package / file).write_text(changed)
    revision = _REVISION.format(newest=newest_revision())
    (package / "store/migrations/versions/9999_noted.py").write_text(revision)

    def run(url: str) -> str:
        env = os.environ | {"PYTHONPATH": str(package.parent)}
        command = [sys.executable, "-c", _MIGRATE, url]
        done = subprocess.run(
            command, cwd=package.parent, env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    return run


def test_a_migrated_store_is_as_a_fresh_one(state, urls, home, opened):
    """Tables, columns, types, defaults, keys, indexes, full-text search, triggers, views."""
    old = opened(state.store(urls[0], home))
    assert migrate(old) is True
    assert schema_of(old) == schema_of(opened(urls[1]))
    assert migrate(old) is False


def test_each_outcome_keeps_its_body(state, postgres_url, opened):
    """Where they were in partitions, those of another month than any of these, too."""
    state.fill(postgres_url)
    store = opened(postgres_url)
    query = text("SELECT id, outcome_id, received_at, body FROM outcomes ORDER BY id")
    with writing(store) as connection:
        parts = "SELECT count(DISTINCT tableoid) FROM outcomes_bodies"
        odd = "UPDATE {} SET received_at = 5 WHERE {} = (SELECT min(id) FROM outcomes)"
        for table, key in (("outcomes_bodies", "outcome"), ("outcomes_rows", "id")):
            connection.execute(text(odd.format(table, key)))
        assert connection.execute(text(parts)).scalar_one() > 1
        before = [tuple(row) for row in connection.execute(query)]
    assert migrate(store) is True
    with writing(store) as connection:
        assert [tuple(row) for row in connection.execute(query)] == before
    assert all(body for *_, body in before)
    assert len(before) > 40


def test_the_next_revision(state, urls, home, opened, next_version):
    """An old store gets it, one of today too; and this version refuses both in one line."""
    urls = (state.store(urls[0], home), urls[1])
    assert [next_version(url) for url in urls] == ["True", "True"]
    stores = [opened(url) for url in urls]
    assert schema_of(stores[0]) == schema_of(stores[1])
    assert "note" in schema_of(stores[0])["leases"]["columns"]
    for store in stores:
        before = schema_of(store)
        with pytest.raises(SchemaTooNew) as refused:
            migrate(store)
        assert re.fullmatch(
            f"the database is of trackrecord {_NEXT_VERSION} .*, and this is "
            f"{trackrecord.__version__}: install that version, or name another database .*",
            str(refused.value),
        )
        assert schema_of(store) == before
