"""The faults: each strikes a world, lasts, and is over when its function returns.

A new fault is a function here and a row of `FAULTS`. Kills are made for every kind of process that
a world has.
"""

import contextlib
import resource
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import psycopg
import redis

from tests.soak.worlds import DataCentre, Home, World, kill
from trackrecord.redis.keys import CONSUMER_GROUP
from trackrecord_capture.agents.door_address import socket_path
from trackrecord_cli.main import UNREACHABLE

# Beyond the longest wait of an agent, of a batch, and of a worker that is silent.
_LONG_S = 12.0
_SOME_S = 5.0
_CLOCKS_S = (-86_400.0, -3_600.0, 3_600.0, 86_400.0, 0.0)
_TEMPORARY = frozenset({"postgres backend", "other"})
_LARGEST_ANSWER_S = 60.0


@dataclass(frozen=True)
class Fault:
    """One kind of fault.

    Attributes:
        name: for the report.
        strike: does it, and ends it.
        every_s: the shortest time between two of them in a world.
        applies: whether a world can have it.
    """

    name: str
    strike: Callable[[World], None]
    every_s: float
    applies: Callable[[World], bool] = lambda _world: True


def killable(world: World) -> dict[str, list[psutil.Process]]:
    """Return the processes that may be killed now, by kind."""
    found = {
        kind: [each for each in processes if world.may_be_killed(each)]
        for kind, processes in world.processes().items()
    }
    return {kind: processes for kind, processes in found.items() if processes}


def kill_and_wait(world: World, victims: Mapping[str, psutil.Process]) -> list[str]:
    """Kill processes at once; return the kinds of which one was alive, and is there again."""
    family = world.processes()
    before = {kind: len(family.get(kind, [])) for kind in victims}
    alive = {
        kind: each
        for kind, each in victims.items()
        if each.is_running() and each.status() != psutil.STATUS_ZOMBIE
    }
    for process in alive.values():
        kill(world, process)

    def is_back(kind: str) -> bool:
        now = world.processes().get(kind, [])
        # A pool or a database may have fewer that are needed; what counts is that it works.
        enough = 1 if "child" in kind or "backend" in kind else before[kind]
        return alive[kind] not in now and len(now) >= enough

    def is_whole() -> bool:
        # The children of an `up` that was killed go on for some seconds.
        return {kind for kind in family if "'" not in kind} <= {*world.processes(), *_TEMPORARY}

    world.wait(is_whole)
    return [kind for kind in alive if world.wait(partial(is_back, kind))]


def _stop_process(world: World) -> None:
    """SIGSTOP for longer than anything waits, while people ask."""
    kinds = world.processes()
    kind = world.chance.choice(sorted(kinds))
    stopped = kinds[kind]
    if kind == "worker":
        stopped = stopped + kinds.get("worker's child", [])
    with contextlib.suppress(psutil.Error):
        for process in stopped:
            process.suspend()
    try:
        if kind == "redis":
            started = time.monotonic()
            world.command("status", "--json", timeout_s=_LARGEST_ANSWER_S * 3)
            if time.monotonic() - started > _LARGEST_ANSWER_S:
                world.fail("`status` waits for a Redis that hangs for more than a minute")
        world.stopping.wait(_LONG_S)
    finally:
        for process in stopped:
            with contextlib.suppress(psutil.Error):
                process.resume()


def _fill_disk(world: World) -> None:
    assert isinstance(world, Home)
    assert world.disk is not None
    ballast = world.disk / "ballast"
    try:
        with ballast.open("ab", buffering=0) as file:
            for size in (1024 * 1024, 4096, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(b"x" * size)
        world.stopping.wait(_SOME_S)
    finally:
        ballast.unlink()


def _limit_files(world: World) -> None:
    """Let no file of the running processes grow, where no small disk can be mounted."""
    # One that has just been started refuses such a home, and says so.
    world.wait(lambda: "http" in world.processes())
    for processes in world.processes().values():
        for process in processes:
            with contextlib.suppress(OSError, psutil.Error):
                limits = (1_000_000, resource.RLIM_INFINITY)
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, limits)
    world.stopping.wait(_SOME_S)
    for processes in world.processes().values():
        for process in processes:
            with contextlib.suppress(OSError, psutil.Error):
                limits = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, limits)


def _read_only(world: World) -> None:
    """Let no process write or make a file; a new worker process opens its files meanwhile."""
    if isinstance(world, DataCentre):
        with _postgres(world) as connection:
            connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
            connection.execute("SELECT pg_reload_conf()")
            world.stopping.wait(_SOME_S)
        with _postgres(world) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute("ALTER SYSTEM RESET default_transaction_read_only")
            connection.execute("SELECT pg_reload_conf()")
        return
    # One that has just been started refuses such a home, and says so.
    world.wait(lambda: "http" in world.processes())
    home = world.settings.home
    files = [each for each in home.iterdir() if each.name.startswith("trackrecord.db")]
    modes = {each: each.stat().st_mode & 0o777 for each in (home, *files)}
    try:
        for each, mode in modes.items():
            each.chmod(mode & 0o555)
        processes = world.processes()
        for process in (processes.get("worker's child") or processes.get("worker", []))[:1]:
            kill(world, process)
        world.stopping.wait(_SOME_S)
    finally:
        for each, mode in modes.items():
            with contextlib.suppress(FileNotFoundError):
                each.chmod(mode)


def _set_clock(world: World) -> None:
    world.set_clock(world.chance.choice(_CLOCKS_S))


def _restart_redis(world: World) -> None:
    for process in world.processes().get("redis", []):
        process.terminate()
        world.wait(lambda: process not in world.processes().get("redis", []))  # noqa: B023 - called at once


def _demote_redis(world: World) -> None:
    """Make it the read-only replica of a master that is away, as in a failover, and promote it."""
    with contextlib.suppress(redis.RedisError, OSError), world.admin() as admin:
        admin.replicaof("127.0.0.1", 1)
        try:
            world.stopping.wait(_SOME_S)
        finally:
            admin.replicaof("NO", "ONE")


def _fill_redis(world: World) -> None:
    with contextlib.suppress(redis.RedisError, OSError), world.admin() as admin:
        before = admin.config_get("maxmemory")["maxmemory"]
        admin.config_set("maxmemory", admin.info("memory")["used_memory"] // 2)
        try:
            world.stopping.wait(_SOME_S)
        finally:
            admin.config_set("maxmemory", before)


def _redeliver(world: World) -> None:
    """Let the stream deliver what is pending to another worker once more."""
    with contextlib.suppress(redis.RedisError, OSError):
        world.client.xgroup_setid(world.settings.keys.outcomes, CONSUMER_GROUP, "0")


def _lock_database(world: World) -> None:
    """Hold the store as someone else's transaction."""
    if isinstance(world, DataCentre):
        with _postgres(world) as connection, connection.transaction():
            connection.execute("LOCK TABLE outcomes IN ACCESS EXCLUSIVE MODE")
            world.stopping.wait(_SOME_S)
        return
    file = world.settings.home / "trackrecord.db"
    with contextlib.closing(sqlite3.connect(file, isolation_level=None, timeout=30)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        world.stopping.wait(_SOME_S)
        holder.execute("ROLLBACK")


def _restart_postgres(world: World) -> None:
    """Restart it in the middle of transactions, without waiting for them."""
    assert isinstance(world, DataCentre)
    for postmaster in world.processes().get("postmaster", []):
        # SIGINT: fast, rolls back; SIGQUIT: immediate, recovers from its log.
        postmaster.send_signal(world.chance.choice((signal.SIGINT, signal.SIGQUIT)))
        with contextlib.suppress(psutil.TimeoutExpired):
            postmaster.wait(30)


def _besiege_door(world: World) -> None:
    """Hold connections with half a head each, and let go of them."""
    path = str(socket_path(world.settings.home))
    with contextlib.ExitStack() as held, contextlib.suppress(OSError):
        for _ in range(300):
            connection = held.enter_context(socket.socket(socket.AF_UNIX))
            connection.settimeout(1)
            connection.connect(path)
            connection.sendall(b"POST /v1/traces HTTP/1.1\r\nContent-Length: 20000000\r\n")
        world.stopping.wait(_SOME_S)


def _consolidate(world: World) -> None:
    """Run consolidation beside everything else, as a person may."""
    status = world.command("consolidate", "--project", "shop")
    if status not in (0, UNREACHABLE):  # a server may have been killed just then
        world.fail(f"`consolidate` beside a worker ended with {status}")


def _copy(world: World) -> None:
    """Kill a backup, an export and a restore in the middle; each succeeds when it is run again."""
    with tempfile.TemporaryDirectory(dir=world.folder) as made:
        backup, home = Path(made, "backup"), Path(made, "home")
        _kill_and_repeat(world, "backup", str(backup))
        _kill_and_repeat(world, "export", str(backup.with_name("export")), "--project", "shop")
        _kill_and_repeat(world, "restore", str(backup), "--yes", home=home)
        counts = []
        for file in (backup, home / "trackrecord.db"):
            with contextlib.closing(sqlite3.connect(file)) as store:
                counts += store.execute("SELECT count(*) FROM outcomes").fetchone()
                if store.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                    world.fail(f"{file} is damaged")
        if counts[0] != counts[1]:
            world.fail(f"a restored store has {counts[1]} outcomes, its backup {counts[0]}")


def _kill_and_repeat(world: World, *arguments: str, home: Path | None = None) -> None:
    try:
        status = world.command(*arguments, timeout_s=world.chance.uniform(0.3, 1.5), home=home)
    except subprocess.TimeoutExpired:
        world.ledger.happened[f"killed: {arguments[0]}"] += 1
        # Killed behind its last byte, it has done everything; a file that is there it refuses.
        is_done = arguments[0] != "restore" and Path(arguments[1]).exists()
        status = 0 if is_done else world.command(*arguments, home=home)
    if status:
        world.fail(f"`{' '.join(arguments)}` ended with {status}")


@contextlib.contextmanager
def _postgres(world: DataCentre) -> Iterator[psycopg.Connection]:
    with psycopg.connect(world.postgres.get_uri(), autocommit=True) as connection:
        yield connection


def _is_data_centre(world: World) -> bool:
    return isinstance(world, DataCentre)


def _is_home(world: World) -> bool:
    return isinstance(world, Home)


FAULTS = (
    Fault("SIGSTOP beyond time-outs", _stop_process, 40.0),
    Fault("disk full", _fill_disk, 50.0, lambda w: isinstance(w, Home) and w.disk is not None),
    Fault("files may not grow", _limit_files, 60.0, lambda w: isinstance(w, Home) and not w.disk),
    Fault("read-only", _read_only, 60.0,
          lambda w: not isinstance(w, Home) or w.can_be_read_only),
    Fault("clock set", _set_clock, 30.0, _is_home),
    Fault("Redis restarted", _restart_redis, 90.0),
    Fault("Redis demoted and promoted", _demote_redis, 60.0, _is_data_centre),
    Fault("Redis's memory full", _fill_redis, 45.0),
    Fault("pending delivered again", _redeliver, 15.0),
    Fault("database locked", _lock_database, 45.0),
    Fault("PostgreSQL restarted", _restart_postgres, 60.0, _is_data_centre),
    Fault("door besieged", _besiege_door, 60.0),
    Fault("consolidation", _consolidate, 45.0),
    Fault("backup, export and restore killed", _copy, 60.0, _is_home),
)  # fmt: skip
