"""A trackrecord of a test's own, reached as a person reaches it, and what is on record in it."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, NamedTuple

from tests.clients.stories import INTERRUPTED, Expected
from tests.clients.tool_calls import WAITING
from tests.support.processes import trackrecord_up
from tests.support.runs_on_record import runs_on_record

PATIENCE_S = 60.0


class Trackrecord(NamedTuple):
    """The command line, with a home of its own.

    Attributes:
        home: its TRACKRECORD_HOME.
        person: the home folder of the person who types the commands.
        variables: further variables, and settings.
    """

    home: Path
    person: Path
    variables: Mapping[str, str] = {}

    def environment(self) -> dict[str, str]:
        """Return the variables of its processes."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        own = {"TRACKRECORD_HOME": str(self.home), "HOME": str(self.person)}
        return {**kept, **own, **self.variables}

    def __call__(self, *arguments: str, folder: Path | None = None) -> str:
        """Run a command to its end, in a folder or at home; return what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "trackrecord_cli", *arguments], env=self.environment(),
            cwd=folder or self.person, capture_output=True, text=True, timeout=PATIENCE_S,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def runs(self, project: str) -> list[dict[str, Any]]:
        """Return the runs of a project, as `trackrecord runs list --json` does; may be none.

        Asked in this process: starting a command takes longer than most stories.
        """
        return runs_on_record(self.home, project)


def unpublished_traces(trackrecord: Trackrecord) -> int:
    """Return how many traces came whose runs are not published yet."""
    with closing(sqlite3.connect(trackrecord.home / "traces.db", timeout=PATIENCE_S)) as database:
        (count,) = database.execute("SELECT count(*) FROM traces WHERE NOT is_published").fetchone()
    return int(count)


def up(trackrecord: Trackrecord, log: Path) -> AbstractContextManager[str]:
    """Have `trackrecord up` running meanwhile."""
    return trackrecord_up(trackrecord.environment(), log)


def until(happened: Callable[[], bool]) -> bool:
    """Wait until something has happened; return whether it has."""
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def told(run: Mapping[str, Any], started: str) -> Expected:
    """Return what is on record of a run, as stories tell it.

    Args:
        run: as `trackrecord runs list` shows it.
        started: the name of the tool that starts sub-agents. Whether that succeeded is not told by
            all agents, and some wait for the sub-agent with a call of its own.
    """
    ended = [
        (call["tool"], True if call["tool"] == started else call["ok"])
        for call in run["calls"]
        if call["tool"] != WAITING
    ]
    calls = tuple((INTERRUPTED if ok is None else tool, ok) for tool, ok in ended)
    instruction = (run["instruction"] or "").strip('"')
    because = run["outcome_source"] if run["success"] is not None else ""
    return Expected(instruction, run["success"], because, calls)
