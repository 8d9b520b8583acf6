"""`trackrecord up --detach`, `down` and the service: what goes on without a terminal."""

import os
import plistlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.terminal import Terminal
from tests.worker.working import alive, until
from trackrecord_worker.up.home_lock import note_pids, running_up, take_home
from trackrecord_worker.up.service import install_service, service_of, uninstall_service

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(home: Path) -> Iterator[Command]:
    """Runs `trackrecord` in a home, by its name below the test's folder; stops what still runs."""
    homes = {home / "home"}

    def run(
        *arguments: str, at: str = "home", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        homes.add(home / at)
        return subprocess.run(
            [sys.executable, "-m", "trackrecord_cli", *arguments],
            env={**os.environ, "TRACKRECORD_HOME": str(home / at), **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
            timeout=200,
        )

    yield run
    for each in homes:
        run("down", at=each.name)


def test_it_goes_on_without_its_terminal_until_it_is_stopped(home, command):
    """A second start changes nothing; `down` waits until all has ended; a second one says no."""
    with Terminal("up", "--detach", columns=200, TRACKRECORD_HOME=str(home / "home")) as terminal:
        terminal.wait_for("stop it with `trackrecord down`")
        assert f"log: {home}/home/up.log" in terminal.shown
        assert terminal.wait() == 0
    running = running_up(home / "home")
    assert running is not None
    first = psutil.Process(running.pids["up"])
    assert os.getsid(first.pid) == first.pid
    assert first.terminal() is None
    again = command("up", "--detach")
    assert again.returncode == 0
    assert f"runs already in {home}/home since 20" in again.stderr
    assert first.is_running()
    assert "up: runs since 20" in command("doctor").stdout
    family = first.children(recursive=True)
    stopped = command("down")
    assert (stopped.returncode, stopped.stdout) == (0, "")
    assert stopped.stderr.startswith(f"stopped in {home}/home (up {first.pid}, worker ")
    # They have let go of everything; the system may still be taking them apart.
    until(lambda: not alive((first, *family)))
    assert "stopping" in (home / "home" / "up.log").read_text()
    nothing = command("down")
    assert (nothing.returncode, nothing.stderr) == (1, f"nothing runs in {home}/home\n")


def test_two_homes_do_not_see_each_other(home, command):
    """Neither starts nor stops in the place of the other."""
    assert command("up", "--detach", "--no-http", at="one").returncode == 0
    assert command("up", "--detach", "--no-http", at="two").returncode == 0
    assert command("down", at="one").returncode == 0
    assert running_up(home / "one") is None
    assert running_up(home / "two") is not None


def test_why_it_does_not_start_is_said_in_one_line_and_kept(home, command):
    """With its status: nobody is told that it is up. What it says later is in its log alone."""
    failed = command("up", "--detach", TRACKRECORD_REDIS_URL="redis://127.0.0.1:1/0")
    assert failed.returncode == 3
    (line,) = failed.stderr.splitlines()
    assert "127.0.0.1:1" in line
    assert line in (home / "home" / "up.log").read_text()


def test_the_end_of_its_terminal_stops_it_in_order(home):
    """One in the foreground; nothing of it is left."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup make test` hands it on, ignored
    try:
        _stop_by_the_end_of_its_terminal(home)
    finally:
        signal.signal(signal.SIGHUP, before)


def _stop_by_the_end_of_its_terminal(home: Path) -> None:
    with Terminal("up", "--no-http", columns=200, TRACKRECORD_HOME=str(home / "home")) as terminal:
        terminal.wait_for("log: ")
        family = psutil.Process(terminal.process.pid).children(recursive=True)
        terminal.process.send_signal(signal.SIGHUP)
        assert terminal.wait() == 0
    until(lambda: alive(family) == [])


def test_an_id_that_somebody_else_has_by_now_is_left_alone(home, command):
    """What holds the lock runs, and no number that an earlier one has left."""
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE) as sleeping:
        with take_home(home / "home") as lock:
            note_pids(lock, {"up": sleeping.pid})
        assert command("down").returncode == 1
        assert "does not run here" in command("doctor").stdout
        assert sleeping.poll() is None


@pytest.fixture
def of_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user, with a name that a unit has to quote."""
    user = tmp_path / 'a $b %h "c'
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return user


def test_systemd_understands_its_unit(of_user, tmp_path):
    """Where it cannot be reached, one line says what to type."""
    service = service_of(of_user / "home", "linux")
    left = install_service(service)
    assert left is not None
    assert left.endswith(f"&& systemctl --user enable --now {service.path.name}")
    assert service.is_installed
    if analyze := shutil.which("systemd-analyze"):
        verified = subprocess.run(
            [analyze, "verify", "--user", service.path],
            capture_output=True,
            check=False,
            text=True,
            timeout=100,
        )
        assert (verified.returncode, verified.stderr) == (0, "")
    assert uninstall_service(service) == f"systemctl --user disable --now {service.path.name}"
    assert not service.path.exists()
    assert service.path.name != service_of(tmp_path / "another", "linux").path.name


def test_launchd_gets_a_property_list(of_user, monkeypatch):
    """It runs this interpreter, again only after a failure, and keeps its own log."""
    monkeypatch.setenv("PATH", str(of_user))  # where there is a launchd, it is left alone
    service = service_of(of_user / "home", "darwin")
    assert service.path.parent == of_user / "Library" / "LaunchAgents"
    assert install_service(service) == f"launchctl bootstrap gui/{os.getuid()} '{service.path}'"
    wanted = plistlib.loads(service.path.read_bytes())
    assert wanted["ProgramArguments"][0] == sys.executable
    assert wanted["ProgramArguments"][-2:] == ["up", "--in-background"]
    assert wanted["EnvironmentVariables"]["TRACKRECORD_HOME"] == str(of_user / "home")
    assert wanted["KeepAlive"] == {"SuccessfulExit": False}
    assert wanted["Label"] == service.path.stem
