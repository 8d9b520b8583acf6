"""What a command imports: nothing that it does not need. Times would depend on the machine.

Commands that are to import little run one after the other in one process: what one of them imports
is seen after each of the later ones, too.
"""

import json
import os
import subprocess
import sys

import pytest

from trackrecord_cli.main import _DECLARED

_SHOW_MODULES = """
import json, sys
from trackrecord_cli.main import run
for line in sys.stdin:
    status = run(json.loads(line))
    print("\\n", json.dumps([status, sorted(sys.modules)]), sep="", file=sys.stderr)
"""
PUBLISHING = "trackrecord_producers.publishing.publish"  # imported with the package by agents
HEAVY = {
    "alembic", "asyncio", "celery", "fakeredis", "pydantic", "pydantic_settings", "redis", "rich",
    "sqlalchemy", "structlog", PUBLISHING,
}  # fmt: skip
OVERVIEWS = [("--help",), ("--version",), ("nonsense",)]
GROUPS = ["patterns", "competences", "criteria", "memories", "errors", "benchmark", "dead",
          "artifacts", "context"]  # fmt: skip
READING = [("patterns", "list"), ("criteria", "list"), ("competences", "list"),
           ("memories", "list"), ("runs", "list"), ("projects",), ("explain", "x")]  # fmt: skip


def _python(home, *arguments, **options):
    """Run Python in a process whose commands have a home."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "TRACKRECORD_HOME": str(home)},
        capture_output=True, timeout=200, check=True, text=True, **options,
    )  # fmt: skip


def _imported(home, commands):
    """The exit status of each command, and the modules that were imported until its end."""
    lines = "".join(f"{json.dumps(each)}\n" for each in commands)
    ran = _python(home, "-c", _SHOW_MODULES, input=lines)
    shown = [json.loads(line) for line in ran.stderr.splitlines() if line.startswith("[")]
    return {
        command: (status, set(modules))
        for command, (status, modules) in zip(commands, shown, strict=True)
    }


@pytest.fixture(scope="module")
def home_with_tables(tmp_path_factory):
    """A home whose store holds a memory; nothing is up."""
    home = tmp_path_factory.mktemp("home")
    _python(home, "-m", "trackrecord_cli", "memories", "add", "The tests need a database")
    return home


@pytest.fixture(scope="module")
def overviews_imported(tmp_path_factory):
    """Return the modules that the command line imports without a command."""
    return _imported(tmp_path_factory.mktemp("home"), OVERVIEWS)


@pytest.fixture(scope="module")
def helps_imported(tmp_path_factory):
    """Return the modules that the help of each group imports."""
    return _imported(tmp_path_factory.mktemp("home"), [(group, "--help") for group in GROUPS])


@pytest.fixture(scope="module")
def reading_imported(home_with_tables):
    """Return the modules that commands import that read the store."""
    return _imported(home_with_tables, READING)


@pytest.mark.parametrize("arguments", OVERVIEWS)
def test_the_overview_imports_no_command(overviews_imported, arguments):
    """Neither a command's module nor any library but click."""
    _, modules = overviews_imported[arguments]
    assert not (HEAVY | {"msgspec"}) & modules
    assert not {name for name in modules if name.startswith("trackrecord_cli.commands.")}


@pytest.mark.parametrize("group", GROUPS)
def test_the_help_of_a_group_imports_nothing_heavy(helps_imported, group):
    """So that the help of any command is there at once."""
    status, modules = helps_imported[group, "--help"]
    assert (status, HEAVY & modules) == (0, set())
    home, _ = _DECLARED.get(group, (f"{group}_", None))
    assert [each for each in modules if each.endswith(f".{home}")]


@pytest.mark.parametrize("arguments", READING)
def test_a_reading_command_imports_what_it_reads_with(reading_imported, arguments):
    """SQLAlchemy, but no Redis, Celery, pydantic, migration, rich table or log."""
    status, modules = reading_imported[arguments]
    assert status == (1 if arguments == ("explain", "x") else 0)
    assert "sqlalchemy" in modules
    assert not {"alembic", "celery", "pydantic", "redis", "rich", "structlog", PUBLISHING} & modules
    assert "trackrecord.learning.text.redaction" not in modules  # slow to compile
    # The tables' indexes have a part for each database; the store is in SQLite.
    assert not {name for name in modules if name.startswith("sqlalchemy.dialects.postgresql")}
