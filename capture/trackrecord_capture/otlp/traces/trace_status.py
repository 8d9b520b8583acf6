"""The state of the buffer of traces, for other processes."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from trackrecord.process.sqlite_files import connect


class TracesStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the buffer of traces, for other processes.

    Attributes:
        waiting: how many traces wait for more spans.
        kept: how many are kept although they were published, for late spans.
        last_at: when the last span came; None if none ever did.
        counts: what did not become an outcome, by reason.
    """

    waiting: int
    kept: int
    last_at: float | None
    counts: dict[str, int]


def traces_file(home: Path) -> Path:
    """Return the file that keeps the traces."""
    return home / "traces.db"


def read_status(path: Path) -> TracesStatus | None:
    """Return the buffer's state, without changing it; None if there is no readable one."""
    if not path.is_file():
        return None
    try:
        with closing(connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=1)) as database:
            run = database.execute
            waiting, kept, last_at = run(
                "SELECT count(*) FILTER (WHERE NOT is_published), "
                "count(*) FILTER (WHERE is_published), max(last_at) FROM traces"
            ).fetchone()
            counts = dict(run("SELECT reason, count FROM counts ORDER BY reason"))
    except sqlite3.Error:
        return None
    return TracesStatus(waiting=waiting, kept=kept, last_at=last_at, counts=counts)
