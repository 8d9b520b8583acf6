"""Real programs of agent frameworks, none of which traces, under `trackrecord run`."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.clients.fetch import FRAMEWORKS
from tests.clients.on_record import PATIENCE_S, Trackrecord, until, up
from tests.clients.real_agents import CLIENTS, free_port
from tests.support.own_token import of_its_user

_PROGRAMS = Path(__file__).with_name("programs")
_PYTHONS = {name: CLIENTS / "frameworks" / name / "bin" / "python" for name in FRAMEWORKS}
_ASKED = "Mend the failing tests of the cart"
# What its spans do not hold: openai-agents keeps the prompt and the words of errors to itself.
_WITHOUT_WORDS = ("openai-agents",)

if missing := [name for name, python in _PYTHONS.items() if not python.exists()]:
    pytest.skip(f"{', '.join(missing)}: `make clients` fetches them", allow_module_level=True)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def trackrecord(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trackrecord]:
    """A trackrecord that is up."""
    person = tmp_path_factory.mktemp("person")
    port = free_port()
    settings = {"TRACKRECORD_HTTP__PORT": str(port)}
    running = Trackrecord(person / "home", person, settings)
    with up(running, person / "up.log"):
        # A program waits 2 s for the front door, which on a busy machine needs longer at first.
        traces = of_its_user(f"http://127.0.0.1:{port}/v1/traces", running.home)
        httpx.post(traces, json={"resourceSpans": []}, timeout=60).raise_for_status()
        yield running


@pytest.mark.parametrize("name", sorted(FRAMEWORKS))
def test_a_program_reports_its_run_with_its_calls_and_the_verdict_of_its_tests(
    trackrecord, name, tmp_path
):
    """A test that failed, an edit, and the test that passed: success, by the tests.

    What a check finds is a result, where its words can be read: its call has done what it should.
    """
    program = _PROGRAMS / f"{name.replace('-', '_')}_agent.py"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "trackrecord_cli",
            "run",
            "--project",
            name,
            _PYTHONS[name],
            program,
        ],
        cwd=tmp_path,
        env=trackrecord.environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "The tests pass."
    assert until(lambda: bool(trackrecord.runs(name)))
    (run,) = trackrecord.runs(name)
    assert [(call["tool"], call["ok"]) for call in run["calls"]] == [
        ("run_tests", name not in _WITHOUT_WORDS),
        ("edit_file", True),
        ("run_tests", True),
    ]
    assert (run["success"], run["outcome_source"]) == (True, "tests")
    assert run["grounds"][0]["kind"] == "check passed"
    assert run["source"] == program.stem
    assert run["captured_from"] == "traces"
    assert run["instruction"] == (None if name in _WITHOUT_WORDS else _ASKED)
