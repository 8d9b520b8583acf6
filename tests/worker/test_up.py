"""`trackrecord up` as a person runs it: when it says that it is up, its HTTP server, its end."""

import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
import redis

from tests.cli.terminal import Terminal
from tests.support.own_token import of_its_user
from tests.support.processes import end, free_port
from tests.worker.working import alive, body, publish, until
from trackrecord.errors import ServerUnavailable
from trackrecord.redis.client import agent_client
from trackrecord.redis.signs_of_life import living_on_host
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_capture.agents.door_address import ask_door
from trackrecord_worker.up.embedded_redis import EmbeddedRedis
from trackrecord_worker.up.home_lock import running_cost
from trackrecord_worker.up.server_binary import find_servers

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

PATIENCE_S = 120.0
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what is refused


class Up:
    """A `trackrecord up` in a process of its own.

    Args:
        settings: of its home.
        arguments: of its command line.
        command: another one than `up`.
        variables: of its environment, besides the settings.
    """

    def __init__(
        self, settings: Settings, *arguments: str, command: str = "up", **variables: str
    ) -> None:
        self.settings = settings
        self.log = settings.home.parent / f"{settings.home.name}-{time.monotonic_ns()}.log"
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trackrecord_cli", command, *arguments],
                env={**os.environ, **settings.as_environment(), **variables},
                stdout=file,
                stderr=file,
                start_new_session=True,
                umask=0o022,
            )

    @property
    def said(self) -> str:
        """All that it has said so far."""
        return self.log.read_text(errors="replace")

    def until_up(self) -> None:
        """Wait until it says that it is up."""
        until(lambda: "trackrecord is up" in self.said or self.process.poll() is not None, 120)
        assert self.process.poll() is None, self.said

    def until_said(self, text: str) -> None:
        """Wait until it has said something."""
        until(lambda: text in self.said or self.process.poll() is not None, PATIENCE_S)
        assert text in self.said

    def family(self) -> list[psutil.Process]:
        """Every process that it has started, and theirs."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def url(self) -> str:
        """The URL of its HTTP server, with the credential of its user."""
        self.until_said("HTTP: http://")
        url = self.said.partition("HTTP: ")[2].splitlines()[0]
        return of_its_user(url, self.settings.home)

    def living(self) -> set[int]:
        """The ids of its processes that have given a sign of life."""
        with agent_client(self.settings) as client:
            alive = living_on_host(client, self.settings.keys)
        return {*alive} & {process.pid for process in self.family()}

    def refusal(self) -> str:
        """Wait until it ends by itself with a failure; return its last line."""
        assert self.process.wait(PATIENCE_S) == 3, self.said
        return self.said.splitlines()[-1]

    def stop(self) -> int:
        """End it in order; return its status."""
        self.process.terminate()
        return self.process.wait(PATIENCE_S)

    def end(self) -> None:
        """End it, in order if possible."""
        end(self.process)
        self.log.unlink()


@pytest.fixture
def settings(home: Path) -> Settings:
    """Settings of a fresh home, with short waits for a dead worker's outcomes."""
    return load_settings(home=home, claim_idle_s=1.0)


@pytest.fixture
def up(settings: Settings) -> Iterator[type[Up]]:
    """Starts `up`s, which are ended after the test."""
    started: list[Up] = []

    class OfThisTest(Up):
        def __init__(self, *arguments: str, **variables: str) -> None:
            super().__init__(settings, *arguments, **variables)
            started.append(self)

    yield OfThisTest
    for one in started:
        one.end()


class Lasting(Up):
    """An `up` that notes which of its processes lived when it said that it is up.

    Args:
        settings: of its home.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.living_at_first: set[int] = set()

    def until_up(self) -> None:
        """Wait until it says that it is up; look at once."""
        super().until_up()
        self.living_at_first = self.living()


@pytest.fixture(scope="module")
def lasting() -> Iterator[Lasting]:
    """One `up` for the tests that leave it as it is, in a home that it has made itself."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        running = Lasting(load_settings(home=Path(folder) / "home", claim_idle_s=1.0))
        try:
            running.until_up()
            yield running
        finally:
            running.end()


def test_up_means_that_a_worker_waits_for_outcomes(lasting):
    """When it says so, a process of its worker has asked Redis, through a wake-up from beat."""
    assert lasting.living_at_first
    with agent_client(lasting.settings) as client:
        publish(client, lasting.settings, body(0))
        until(lambda: client.xlen(lasting.settings.keys.outcomes) == 0)


OWN_LINE = re.compile(
    r"trackrecord is up in .+|Redis: unix://.+|log: .+/up\.log|HTTP: http://.+"
    r"|the page: run `trackrecord open`|stopping"
)


def test_what_up_says_in_a_pipe_is_its_own_lines_and_those_of_the_log(up):
    """Celery, which a number of processes asks for, neither warns root nor says goodbye."""
    running = up(TRACKRECORD_LOG_LEVEL="debug", TRACKRECORD_WORKER_CONCURRENCY="1")
    running.until_up()
    running.url()
    assert running.stop() == 0
    lines = running.said.splitlines()
    logged = [line for line in lines if not OWN_LINE.fullmatch(line)]
    assert "stopping" in lines
    assert len(logged) > 1
    for line in logged:
        assert json.loads(line)["level"] in ("debug", "info", "warning"), line


def test_what_up_says_to_a_person_is_its_own_lines_alone(settings):
    """Its log goes to a file, which it names and which is for its owner alone; Ctrl-C ends it."""
    variables = {**settings.as_environment(), "TRACKRECORD_LOG_LEVEL": "debug"}
    with Terminal("up", columns=200, **variables) as terminal:
        terminal.wait_for("the page: run")
        terminal.type("\u0003")
        assert terminal.wait() == 0
    assert not settings.embedded_redis_socket.exists()
    lines = [line.removeprefix("^C") for line in terminal.shown.replace("\r", "").splitlines()]
    assert [line for line in lines if not OWN_LINE.fullmatch(line)] == []
    log = settings.home / "up.log"
    assert f"log: {log}" in lines
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    logged = [line for line in log.read_text().splitlines() if line.startswith("{")]
    assert {json.loads(line)["level"] for line in logged} >= {"debug"}


def test_a_worker_that_cannot_run_ends_up(up, tmp_path):
    """Without a package that the worker imports: a few tries, then one line with the cause."""
    broken = tmp_path / "packaging"
    broken.mkdir()
    (broken / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'packaging'\", name='packaging')"
    )
    running = up("--no-http", PYTHONPATH=str(tmp_path))
    said = running.refusal()
    cause = "it ended 4 times: ModuleNotFoundError: No module named 'packaging'"
    assert said == f"trackrecord: the worker cannot run, {cause}"
    assert "trackrecord is up" not in running.said
    pauses = [line for line in running.said.splitlines() if "child_ended" in line]
    assert any('"again_in_s": 4.0' in line or "again_in_s=4.0" in line for line in pauses)


def test_killed_with_9_its_children_end_too(up, settings):
    """Redis at once, worker and HTTP server soon; the next `up` waits and takes over.

    It gets the address of the HTTP server, too. When nobody takes over, nothing is left behind
    either.
    """
    first = up()
    first.until_up()
    url = first.url()
    family = first.family()
    assert len(family) >= 3  # Redis, the HTTP server and the worker
    with agent_client(settings) as client:
        publish(client, settings, body(1))
    first.process.kill()
    first.process.wait()
    second = up(TRACKRECORD_HTTP__PORT=url.rpartition(":")[2])
    second.until_up()
    assert "already running" not in second.said
    assert alive(family) == []
    with agent_client(settings) as client:
        until(lambda: client.xlen(settings.keys.outcomes) == 0)
    assert second.url() == url
    answer = httpx.get(f"{url}/health", timeout=PATIENCE_S)
    assert answer.json() == {"status": "ok"}
    family = second.family()
    assert len(family) >= 3
    second.process.kill()
    second.process.wait()
    until(lambda: alive(family) == [], 60)


def test_it_says_what_it_costs(lasting):
    """Four processes once the catching up of a night is over; nobody's without an `up`."""
    home = lasting.settings.home

    def are_four() -> bool:
        cost = running_cost(home)
        return cost is not None and cost.processes == 4 and cost.memory_bytes < 200_000_000

    until(are_four, PATIENCE_S)
    assert running_cost(home.parent) is None


def test_a_second_one_names_who_is_running(lasting):
    """Each process id that it names is one that lives; nothing is harmed."""
    family = lasting.family()
    second = Up(lasting.settings)
    try:
        assert second.process.wait(200) == 2
        said = second.said.splitlines()[-1]
    finally:
        second.end()
    home = lasting.settings.home
    (worker,) = (each.pid for each in family if each.pid in _leaders_of_asking(lasting))
    assert f"already running in {home} (up {lasting.process.pid}, worker {worker}, " in said
    assert "TRACKRECORD_HOME" in said
    assert lasting.process.poll() is None
    assert len(alive(family)) == len(family)
    with agent_client(lasting.settings) as client:
        assert client.ping()


def _leaders_of_asking(running: Up) -> set[int]:
    """The ids of its processes that lead those which ask Redis for outcomes."""
    return {os.getpgid(pid) for pid in running.living()}


def test_a_taken_port_is_named(home):
    """One line, with another way out."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ServerUnavailable) as said:
            EmbeddedRedis(home / "redis", home / "redis.sock", port=port).start()
    assert str(said.value) == (
        f"port {port} cannot be used (Address already in use): choose another one with --port"
    )


def test_a_port_wants_a_password(settings, up):
    """It is in a file that `up` names; a server that is known to be vulnerable gets no port."""
    port = free_port()
    if find_servers()[0].is_vulnerable:
        said = up("--port", str(port)).refusal()
        assert "has known vulnerabilities" in said
        assert "leave out --port" in said
        return
    running = up("--port", str(port), "--no-http")
    running.until_up()
    file = settings.home / "redis" / "password"
    place = f"unix://{settings.embedded_redis_socket}, 127.0.0.1:{port}"
    until(lambda: f"Redis: {place} (its password is in {file})\n" in running.said)
    password = file.read_text().strip()
    assert password not in running.said
    with redis.Redis(port=port) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()
    with redis.Redis(port=port, password=password) as client:
        publish(client, settings, body(1))
        until(lambda: client.xlen(settings.keys.outcomes) == 0)


def test_everything_is_for_its_owner_alone(lasting):
    """Under the usual umask: folders 0700, files 0600, those of SQLite and of Redis too."""
    settings = lasting.settings
    with agent_client(settings) as client:
        publish(client, settings, body(2))
        until(lambda: client.xlen(settings.keys.outcomes) == 0)
    paths = [settings.home, *settings.home.rglob("*")]
    assert {path.name for path in paths} >= {"trackrecord.db", "redis.log", "up.lock"}
    for path in paths:
        mode = path.lstat().st_mode
        assert stat.S_IMODE(mode) & 0o077 == 0, path


def test_what_agents_spool_first_is_private_too(settings):
    """An agent that spools before anything else has made the home."""
    settings.home.rmdir()
    script = "import trackrecord; trackrecord.spool(task_id='t', success=True)"
    subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **settings.as_environment()},
        check=True,
        umask=0o022,
    )
    for path in (settings.home, *settings.home.rglob("*")):
        assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path


def test_interrupted_while_it_starts(up, settings):
    """It ends in order, at once."""
    running = up()
    until(lambda: (settings.home / "up.lock").exists())
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(PATIENCE_S) in (0, 130)
    assert alive(
        [
            process
            for process in psutil.process_iter()
            if str(settings.home) in " ".join(_words(process))
        ]
    ) == []  # fmt: skip


def _words(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def test_a_redis_that_keeps_ending(settings, up):
    """A file that Redis cannot read: one line that says what Redis says, and where to read on."""
    before = up()
    before.until_up()
    assert before.stop() == 0
    for file in (settings.home / "redis").rglob("*.aof"):
        file.write_bytes(b"*3\r\n$3\r\nSET\r\nnonsense" + file.read_bytes())
    said = up().refusal()
    assert said.startswith("trackrecord: the embedded Redis does not start (")
    assert said.endswith(f"see {settings.home / 'redis' / 'redis.log'}")


def door_of(running: Up) -> psutil.Process:
    """The process of its HTTP server."""
    (found,) = [
        child
        for child in psutil.Process(running.process.pid).children()
        if "trackrecord_door" in child.cmdline()
    ]
    return found


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=PATIENCE_S).json() == {"status": "ok"}
    except httpx.TransportError:
        return False


def test_up_serves_http_and_revives_it(up):
    """It says where; killed, the server comes back at the same address; with `up` it ends."""
    running = up()
    url = running.url()
    assert answers(url)
    first = door_of(running)
    first.kill()
    # The socket is open all the time: this request waits for the next server.
    assert answers(url)
    second = door_of(running)
    assert second.pid != first.pid
    assert "child_ended" in running.said
    assert running.stop() == 0
    assert not second.is_running()
    assert not answers(url)


def test_a_taken_port_is_said_in_one_line_and_hooks_are_answered(up):
    """Only what needs a port has none; `doctor` and `open` name the port and the setting."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        running = up(TRACKRECORD_HTTP__PORT=str(port))
        running.until_said("page and traces")
        (line,) = [line for line in running.said.splitlines() if "HTTP" in line]
        assert line == (
            f"trackrecord: port {port} of 127.0.0.1 cannot be used for HTTP (Address already in "
            "use): set another TRACKRECORD_HTTP__PORT or TRACKRECORD_HTTP__HOST; agents' hooks are "
            "answered, the page and traces are not"
        )
        assert "trackrecord is up" in running.said
        assert ask_door(running.settings.home, "GET", "/health")[0] == 200
        for command, status in (("doctor", 1), ("open", 3)):
            asked = up(command=command, TRACKRECORD_HTTP__PORT=str(port))
            assert asked.process.wait(PATIENCE_S) == status
            assert re.search(rf"port.* {port} .*taken.*TRACKRECORD_HTTP__PORT", asked.said)
        assert running.stop() == 0


def test_without_http(up):
    """`--no-http` leaves it out, and needs no token for an address that it does not use."""
    running = up("--no-http", TRACKRECORD_HTTP__HOST=EVERYWHERE)
    running.until_said("Redis: ")
    assert running.stop() == 0
    assert "HTTP" not in running.said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_alone(up, number):
    """Without Redis it serves as well; it ends in order with status 0."""
    serving = up(command="serve")
    assert answers(serving.url())
    serving.process.send_signal(number)
    assert serving.process.wait(PATIENCE_S) == 0
    assert "Traceback" not in serving.said
