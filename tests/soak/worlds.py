"""The worlds that are shaken: homes under `trackrecord up`, and servers as a data centre has them.

Processes are found by their parents and by the lock of the home, never by a name alone.
"""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import psutil
import redis
from sqlalchemy import Engine, func, select

from tests.soak.ledger import Attacker, Fleet, Ledger, Sent
from tests.support.processes import free_port
from trackrecord.errors import TrackrecordError
from trackrecord.process.python_command import python_command
from trackrecord.redis.client import agent_client
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord_capture.agents.door_address import socket_path
from trackrecord_producers.publishing.publisher import Publisher
from trackrecord_worker.up.daemon import beat_command, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis
from trackrecord_worker.up.server_binary import find_servers

# Of everything that a world may need to be well again, a cold start on a busy machine included.
PATIENCE_S = 180.0
# A process that has just begun has not taken anything in hand.
_LEAST_AGE_S = 3.0
# `up` gives up a child that ended ten times in a row without having lived for a minute, and three
# times before all was up; other faults end children, too.
_WELL_AFTER_S = 62.0
_MOST_SHORT_LIVES = 5
_MOST_AT_FIRST, _FIRST_S = 2, 30.0
_SHIFTED_CLOCK = Path(__file__).parents[1] / "worker" / "shifted_clock"
_QUICK: dict[str, Any] = {
    "claim_idle_s": 3.0,
    "database_timeout_s": 1.0,
    "backoff_max_s": 2.0,
    "retry_after_s": 0.2,
    "log_level": "warning",
}


class World:
    """One deployment with its agents, its model, and what went wrong in it.

    Args:
        name: for the report.
        folder: for its files; short, because sockets lie in it.
        seed: of all that is random here.
        stopping: set when nothing is worth waiting for any more.
        home: the home, where that is not a folder of `folder`.
        settings: beside those that make waits short.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        seed: str,
        stopping: threading.Event,
        *,
        home: Path | None = None,
        **settings: Any,
    ) -> None:
        self.name = name
        self.folder = folder
        folder.mkdir()
        self.log = folder / "processes.log"
        self.clock = folder / "shift"
        self.set_clock(0.0)
        self.settings: Settings = load_settings(
            home=home or folder / "home",
            spool_folder=folder / "spool",
            http={"port": free_port()},
            **_QUICK,
            **settings,
        )
        self.chance = random.Random(f"{seed} {name}")
        self.fleet = Fleet(random.Random(f"{seed} {name} fleet"), time.time())
        self.attacker = Attacker(random.Random(f"{seed} {name} attacker"))
        self.ledger = Ledger()
        self.failures: list[str] = []
        self.client = agent_client(self.settings)
        self.publisher = Publisher(lambda: self.settings)
        self.stopping = stopping
        # Held by whoever strikes it, and by what it has to do without a fault.
        self.undisturbed = threading.Lock()
        self._starting = threading.Lock()

    # --- processes

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Return the processes that live, by kind."""
        raise NotImplementedError

    def start(self) -> None:
        """Start everything, or again what has ended and is not started again by itself."""
        with self._starting:
            self._start()

    def _start(self) -> None:
        raise NotImplementedError

    def note_kill(self, process: psutil.Process) -> None:
        """Remember that a process does not end by itself."""

    def stop(self) -> None:
        """Stop everything in order."""
        raise NotImplementedError

    def admin(self) -> redis.Redis:
        """Return a client of Redis with all rights."""
        raise NotImplementedError

    def may_be_killed(self, process: psutil.Process) -> bool:
        """Return whether it may be killed now and must come back."""
        return age_s(process) > _LEAST_AGE_S

    @property
    def database_url(self) -> str:
        """The store's URL, for lookers-on."""
        return self.settings.effective_database_url

    def environment(self) -> dict[str, str]:
        """Return the environment of its processes, whose clock can be set."""
        return {
            **os.environ,
            **self.settings.as_environment(),
            "SHIFTED_CLOCK": str(self.clock),
            "PYTHONPATH": str(_SHIFTED_CLOCK),
        }

    def set_clock(self, seconds: float) -> None:
        """Set the clock on the wall of its processes, in one step."""
        new = self.clock.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self.clock)

    def launch(
        self, command: list[str], prefix: list[str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a process of this world; what it says goes to the world's log."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*(prefix or []), *command], env=self.environment(), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True, cwd="/",
            )  # fmt: skip

    def command(
        self, *arguments: str, timeout_s: float = PATIENCE_S, home: Path | None = None
    ) -> int:
        """Run `trackrecord` with arguments, or in another home; return its exit status.

        Raises:
            subprocess.TimeoutExpired: it took longer, and was killed.
        """
        other = {} if home is None else {"TRACKRECORD_HOME": str(home)}
        with self.log.open("ab") as log:
            return subprocess.run(
                python_command("trackrecord_cli", *arguments),
                env=self.environment() | other, cwd="/",
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False,
                timeout=timeout_s,
            ).returncode  # fmt: skip

    # --- reports

    def send(self, sent: list[Sent]) -> None:
        """Put entries onto the stream until Redis has acknowledged each; some come twice then."""
        waiting = sent
        while waiting and not self.stopping.is_set():
            self.start()
            try:
                with self.client.pipeline(transaction=False) as pipe:
                    for each in waiting:
                        pipe.xadd(self.settings.keys.outcomes, {"v": 1, each.kind: each.body})
                    answers = pipe.execute(raise_on_error=False)
            except (redis.RedisError, OSError):
                self.stopping.wait(0.2)
                continue
            pairs = list(zip(waiting, answers, strict=True))
            self.ledger.acknowledge([one for one, answer in pairs if isinstance(answer, bytes)])
            waiting = [one for one, answer in pairs if not isinstance(answer, bytes)]
            if waiting:
                self.stopping.wait(0.2)

    def attack(self, number: int) -> None:
        """Put hostile entries onto the stream, once."""
        try:
            with self.client.pipeline(transaction=False) as pipe:
                for fields in self.attacker.entries(number):
                    pipe.xadd(self.settings.keys.outcomes, fields)  # type: ignore[arg-type]
                answers = pipe.execute(raise_on_error=False)
        except (redis.RedisError, OSError):
            self.ledger.unsure += number
            self.stopping.wait(0.2)
            return
        taken = sum(isinstance(answer, bytes) for answer in answers)
        broken = sum(isinstance(answer, redis.ConnectionError | redis.TimeoutError)
                     for answer in answers)  # fmt: skip
        self.ledger.hostile += taken
        self.ledger.unsure += broken

    @contextlib.contextmanager
    def door(self) -> Iterator[httpx.Client]:
        """A client of the front door, over the socket in the home."""
        transport = httpx.HTTPTransport(uds=str(socket_path(self.settings.home)))
        with httpx.Client(transport=transport, base_url="http://home", timeout=2) as client:
            yield client

    # --- state

    def connect(self) -> Engine:
        """Return an engine of its store, for looking on."""
        return connect_store(self.database_url, timeout_s=5.0)

    def fail(self, message: str) -> None:
        """Note what must not be."""
        self.failures.append(f"{self.name}: {message}")
        sys.stderr.write(f"soak: FAILED {self.failures[-1]}\n")

    def probe(self) -> float | None:
        """Return the seconds until a new outcome is learnt; None if it is not in time."""
        project, outcome_id, sent = self.fleet.probe()
        started = time.monotonic()
        self.send([sent])
        return time.monotonic() - started if self.learns(project, [outcome_id]) else None

    def learns(self, project: str, outcome_ids: Sequence[str]) -> bool:
        """Wait until outcomes that were sent are on record; return whether they were in time."""
        query = select(func.count(outcomes.c.outcome_id.distinct())).join(
            projects, projects.c.id == outcomes.c.project_id
        )
        query = query.where(projects.c.name == project, outcomes.c.outcome_id.in_(outcome_ids))
        engine = self.connect()

        def are_learnt() -> bool:
            with contextlib.suppress(TrackrecordError), reading(engine) as connection:
                return connection.execute(query).scalar_one() == len(outcome_ids)
            return False

        try:
            return self.wait(are_learnt)
        finally:
            engine.dispose()

    def wait(self, condition: Callable[[], bool], timeout_s: float = PATIENCE_S) -> bool:
        """Wait for a condition, and start again what has to be; return whether it came true."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            self.start()
            if condition():
                return True
            if self.stopping.is_set():
                return False
            time.sleep(0.2)
        return False

    def waiting(self) -> int:
        """Return how many entries no worker has dealt with; -1 while Redis does not say."""
        with contextlib.suppress(redis.RedisError, OSError):
            return int(self.client.xlen(self.settings.keys.outcomes))
        return -1


class Home(World):
    """A person's machine: `trackrecord up` with an embedded Redis and SQLite."""

    def __init__(
        self,
        name: str,
        folder: Path,
        seed: str,
        stopping: threading.Event,
        *,
        disk: Path | None = None,
    ) -> None:
        super().__init__(name, folder, seed, stopping, home=disk / "home" if disk else None)
        self.disk = disk
        self._up: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._short_lives = 0
        # A superuser may write what is read-only; one without capabilities may not.
        setpriv = shutil.which("setpriv")
        self.can_be_read_only = os.geteuid() != 0 or setpriv is not None
        self._prefix = [setpriv, "--bounding-set=-all", "--inh-caps=-all"] if (
            os.geteuid() == 0 and setpriv) else []  # fmt: skip

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Return `up` and what it started, named as the lock of the home names it."""
        if self._up is None or self._up.poll() is not None:
            return {}
        named: dict[int, str] = {}
        with contextlib.suppress(OSError):
            noted = re.findall(r"(\w+) (\d+)", (self.settings.home / "up.lock").read_text())
            named = {int(pid): name for name, pid in noted}
        found: dict[str, list[psutil.Process]] = {}
        with contextlib.suppress(psutil.Error):
            up = psutil.Process(self._up.pid)
            found["up"] = [up]
            for child in up.children():
                kind = named.get(child.pid) or _kind_of(child)
                found.setdefault(kind, []).append(child)
                for grandchild in child.children(recursive=True):
                    found.setdefault(f"{kind}'s child", []).append(grandchild)
        return found

    def _start(self) -> None:
        """Start `up` if it does not run; one that ended by itself is a failure."""
        if self._up is not None and self._up.poll() is None:
            return
        if self._up is not None and not self._killed and not self._is_refused_for_room():
            self.fail(f"`up` ended with {self._up.returncode}: {_last_line(self.log)}")
        self._killed = False
        self._short_lives = 0
        self._up = self.launch(python_command("trackrecord_cli", "up"), self._prefix)

    def _is_refused_for_room(self) -> bool:
        """Return whether `up` said that it cannot start because the small disk is full."""
        return self.disk is not None and f"the disk of {self.settings.home}" in _last_line(self.log)

    def note_kill(self, process: psutil.Process) -> None:
        """Remember that `up` is not to blame for its end."""
        assert self._up is not None
        if process.pid == self._up.pid:
            self._killed = True
        else:
            self._short_lives += age_s(process) < _WELL_AFTER_S

    def stop(self) -> None:
        """Stop `up` as Ctrl-C does."""
        if self._up is not None:
            self._killed = True
            _end(self._up)

    def admin(self) -> redis.Redis:
        """Return a client of the embedded Redis with all rights."""
        settings = self.settings
        return EmbeddedRedis(
            settings.embedded_redis_folder, settings.embedded_redis_socket
        ).client()

    def may_be_killed(self, process: psutil.Process) -> bool:
        """Return whether it comes back; `up` itself is left alone for long enough to be well."""
        if age_s(process) > _WELL_AFTER_S:
            return True
        if self._up is None or process.pid == self._up.pid:
            return False
        is_new = age_s(psutil.Process(self._up.pid)) < _FIRST_S
        most = _MOST_AT_FIRST if is_new else _MOST_SHORT_LIVES
        return self._short_lives < most and super().may_be_killed(process)


class DataCentre(World):
    """Plain processes of Celery on a Redis and a PostgreSQL of their own.

    Args:
        name: for the report.
        folder: for its files.
        seed: of all that is random here.
        stopping: set when nothing is worth waiting for any more.
        postgres: a server of the wheel, which runs.
    """

    def __init__(
        self, name: str, folder: Path, seed: str, stopping: threading.Event, postgres: Any
    ) -> None:
        super().__init__(
            name, folder, seed, stopping, database_url=postgres.get_uri(),
            redis_url=f"unix://{folder}/redis.sock",
        )  # fmt: skip
        self.postgres = postgres
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._postgres_lock = threading.Lock()

    def _commands(self) -> dict[str, list[str]]:
        server = [
            str(find_servers()[0].path), "--port", "0", "--unixsocket", f"{self.folder}/redis.sock",
            "--dir", str(self.folder), "--appendonly", "yes", "--appendfsync", "always",
            "--save", "", "--maxmemory", "512mb", "--maxmemory-policy", "noeviction",
        ]  # fmt: skip
        return {
            "redis": server,
            "worker 1": worker_command(self.settings),
            "worker 2": worker_command(self.settings),
            "beat": beat_command(self.settings),
            "http": python_command("trackrecord_door"),
        }

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Return the processes by what they do."""
        found: dict[str, list[psutil.Process]] = {}
        for name, each in self._processes.items():
            if each.poll() is None:
                kind = name.partition(" ")[0]
                with contextlib.suppress(psutil.Error):
                    process = psutil.Process(each.pid)
                    found.setdefault(kind, []).append(process)
                    found.setdefault(f"{kind}'s child", []).extend(process.children())
        with contextlib.suppress(psutil.Error, OSError, ValueError, IndexError):
            pid = (self.postgres.pgdata / "postmaster.pid").read_text().splitlines()[0]
            postmaster = psutil.Process(int(pid))
            found["postmaster"] = [postmaster]
            found["postgres backend"] = [
                each for each in postmaster.children() if "[local]" in " ".join(each.cmdline())
            ]
        return {kind: each for kind, each in found.items() if each}

    def _start(self) -> None:
        """Start each that does not run, as a supervisor does."""
        for name, command in self._commands().items():
            process = self._processes.get(name)
            if process is None or process.poll() is not None:
                if name == "redis":
                    (self.folder / "redis.sock").unlink(missing_ok=True)
                self._processes[name] = self.launch(command)
        if "postmaster" not in self.processes():
            # What is left of a server that was killed ends first: then the next try succeeds.
            with self._postgres_lock, contextlib.suppress(Exception):
                self.postgres.ensure_postgres_running()

    def stop(self) -> None:
        """Stop the workers, then Redis; the database is stopped with the run."""
        for name in ("beat", "http", "worker 1", "worker 2", "redis"):
            if name in self._processes:
                _end(self._processes[name])

    def admin(self) -> redis.Redis:
        """Return a client of Redis."""
        return redis.Redis.from_url(self.settings.effective_redis_url, socket_timeout=5)


def age_s(process: psutil.Process) -> float:
    """Return for how long a process has lived; 0 if it is gone."""
    with contextlib.suppress(psutil.Error):
        return time.time() - float(process.create_time())
    return 0.0


def kill(world: World, process: psutil.Process) -> None:
    """Kill one process as the machine's lack of memory does."""
    world.note_kill(process)
    with contextlib.suppress(psutil.Error):
        process.send_signal(signal.SIGKILL)


def _kind_of(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        if "redis" in process.name() or "valkey" in process.name():
            return "redis"
    return "other"


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(90)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return lines[-1][:300] if lines else "its log is empty"
