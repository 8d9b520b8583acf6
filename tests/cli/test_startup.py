"""What a command imports: nothing that it does not need. Times would depend on the machine."""

import os
import subprocess
import sys

import pytest

_SHOW_MODULES = """
import sys
from trackrecord_cli.main import run
status = run(sys.argv[1:])
print(status, *sorted(sys.modules), sep="\\n", file=sys.stderr)
"""
HEAVY = {
    "alembic", "asyncio", "celery", "fakeredis", "pydantic", "pydantic_settings", "redis", "rich",
    "sqlalchemy", "structlog",
}  # fmt: skip


def _imported(home, *arguments):
    """The exit status of a command, and the modules that it imported."""
    ran = subprocess.run(
        [sys.executable, "-c", _SHOW_MODULES, *arguments],
        env={**os.environ, "TRACKRECORD_HOME": str(home)},
        capture_output=True,
        timeout=60,
        check=True,
        text=True,
    )
    lines = ran.stderr.splitlines()
    numbers = [place for place, line in enumerate(lines) if line.isdecimal()]
    return int(lines[numbers[-1]]), set(lines[numbers[-1] + 1 :])


@pytest.fixture(scope="module")
def home_with_tables(tmp_path_factory):
    """A home whose store a command has made before; nothing is up."""
    home = tmp_path_factory.mktemp("home")
    _imported(home, "projects")
    return home


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("nonsense",)])
def test_the_overview_imports_no_command(nothing_up, arguments):
    """Neither a command's module nor any library but click."""
    _, modules = _imported(nothing_up, *arguments)
    assert not HEAVY & modules
    assert not {name for name in modules if name.startswith("trackrecord_cli.commands.")}


@pytest.mark.parametrize(
    "group", ["patterns", "competences", "criteria", "memories", "errors", "benchmark", "dead",
              "artifacts", "context"],
)  # fmt: skip
def test_the_help_of_a_group_imports_nothing_heavy(nothing_up, group):
    """So that the help of any command is there at once."""
    _, modules = _imported(nothing_up, group, "--help")
    assert not HEAVY & modules


@pytest.mark.parametrize(
    "arguments",
    [("patterns", "list"), ("criteria", "list"), ("competences", "list"), ("memories", "list"),
     ("projects",), ("explain", "x")],
)  # fmt: skip
def test_a_reading_command_imports_what_it_reads_with(home_with_tables, arguments):
    """SQLAlchemy, but no Redis, Celery, pydantic, migration, rich table or log."""
    _, modules = _imported(home_with_tables, *arguments)
    assert "sqlalchemy" in modules
    unneeded = {"alembic", "celery", "pydantic", "redis", "rich", "structlog"}
    assert not unneeded & modules
    # The tables' indexes have a part for each database; the store is in SQLite.
    assert not {name for name in modules if name.startswith("sqlalchemy.dialects.postgresql")}
