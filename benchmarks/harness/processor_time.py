"""The processor time that servers and workers have used."""

import psutil
import psycopg
import redis


def with_children(pid: int) -> float:
    """Return the seconds of a process, its children, and those of its children that have ended."""
    process = psutil.Process(pid)
    own = process.cpu_times()
    seconds = own.user + own.system + own.children_user + own.children_system
    for child in process.children(recursive=True):
        times = child.cpu_times()
        seconds += times.user + times.system
    return float(seconds)


def redis_pid(client: redis.Redis) -> int:
    """Return the process of a Redis server."""
    return int(client.info("server")["process_id"])


def postgres_pid(url: str) -> int:
    """Return the process of a PostgreSQL server of this machine: the parent of its sessions."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None  # noqa: S101 - it always answers
        return int(psutil.Process(row[0]).ppid())
