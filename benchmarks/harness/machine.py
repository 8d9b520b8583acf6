"""The machine and the servers that the figures were measured on."""

import os
import platform
import sqlite3
import subprocess
from importlib.metadata import version

import psycopg

from trackrecord_worker.up.server_binary import find_servers

from .servers import postgres_server


def machine_facts() -> dict[str, str]:
    """Return facts about the machine and the servers, by name."""
    return {
        "cores": str(len(os.sched_getaffinity(0))),
        "load before": " ".join(f"{each:.2f}" for each in os.getloadavg()),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "Redis": _redis_version(),
        "PostgreSQL": _postgres_version(),
        "Celery": version("celery"),
    }


def _redis_version() -> str:
    answer = subprocess.run(
        [str(find_servers()[0].path), "--version"], capture_output=True, text=True, check=True
    ).stdout
    words = dict(word.split("=", 1) for word in answer.split() if "=" in word)
    return f"{words.get('v', answer.strip())}, appendonly, appendfsync always"


def _postgres_version() -> str:
    with postgres_server() as url, psycopg.connect(url) as connection:
        names = ("server_version", "fsync", "synchronous_commit")
        values = [connection.execute(f"SHOW {name}").fetchone() for name in names]
    number, fsync, commit = (str(row[0]) if row else "?" for row in values)
    return f"{number}, fsync {fsync}, synchronous_commit {commit}"
