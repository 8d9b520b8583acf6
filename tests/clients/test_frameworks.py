"""Real programs of agent frameworks, started and traced as docs/capture.md says."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.fetch import FRAMEWORKS
from tests.clients.on_record import PATIENCE_S, Trackrecord, until, up
from tests.clients.real_agents import CLIENTS
from tests.support.processes import free_port
from trackrecord_capture.otlp.traces.trace_status import read_status, traces_file

_PROGRAMS = Path(__file__).with_name("programs")
_PLACES = {name: CLIENTS / "frameworks" / name / "bin" for name in FRAMEWORKS}
_AI_SDK = CLIENTS / "ai-sdk"
_ASKED = "Mend the failing tests of the cart"
_MENDED = [("run_tests", True), ("edit_file", True), ("run_tests", True)]

if missing := [str(place) for place in (*_PLACES.values(), _AI_SDK) if not place.exists()]:
    pytest.skip(f"{', '.join(missing)}: `make clients` fetches them", allow_module_level=True)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def trackrecord(port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trackrecord]:
    """A trackrecord that is up."""
    person = tmp_path_factory.mktemp("person")
    settings = {"TRACKRECORD_HTTP__PORT": str(port), "TRACKRECORD_TRACES__IDLE_S": "3"}
    running = Trackrecord(person / "home", person, settings)
    with up(running, person / "up.log"):
        yield running


def _traced(trackrecord: Trackrecord, port: int, project: str, *command: str | Path) -> str:
    token = trackrecord("token", "show", "--report").strip()
    variables = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer {token}",
        "OTEL_RESOURCE_ATTRIBUTES": f"trackrecord.project={project},service.name={project}",
        "OTEL_METRICS_EXPORTER": "none",
        "OPENAI_API_KEY": "none",
    }
    ran = subprocess.run(
        command, env=trackrecord.environment() | variables, capture_output=True, text=True,
        timeout=PATIENCE_S, check=True,
    )  # fmt: skip
    return ran.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("place", "program"),
    [
        *((each, ("approved.py",)) for each in ("one", "two")),
        *((each, ("served.py", "agent", "9")) for each in ("one", "two")),
        *((each, ("scripted.py", each)) for each in ("crewai", "pydantic-ai", "smolagents")),
    ],
)
def test_a_task_is_one_run_with_all_its_calls(trackrecord, port, place, program):
    """Also where a person approves each call, and where two instrumentations trace it."""
    name, *words = program
    project = f"{Path(name).stem}-{place}"
    start = (_PLACES[place] / "opentelemetry-instrument", _PLACES[place] / "python")
    said = _traced(trackrecord, port, project, *start, _PROGRAMS / name, *words)
    assert said == "The tests pass."

    def calls() -> list[list[tuple[str, bool]]]:
        runs = trackrecord.runs(project)
        return [[(call["tool"], call["ok"]) for call in run["calls"]] for run in runs]

    assert until(lambda: calls() == [_MENDED]), calls()
    (run,) = trackrecord.runs(project)
    assert (run["success"], run["outcome_source"]) == (True, "tests")
    assert run["instruction"] == _ASKED


def test_an_api_that_fails_is_nobodys_failure(trackrecord, port):
    """After a check that failed, too."""
    start = (_PLACES["one"] / "opentelemetry-instrument", _PLACES["one"] / "python")
    served = (*start, _PROGRAMS / "served.py", "agent", "1")
    assert _traced(trackrecord, port, "api", *served) == "InternalServerError"
    assert until(lambda: bool(trackrecord.runs("api")))
    (run,) = trackrecord.runs("api")
    assert run["success"] is None
    assert "api failed" in {ground["kind"] for ground in run["grounds"]}


def test_a_loop_of_ones_own_is_told_what_it_lacks(trackrecord, port):
    """Its requests alone do not say what belongs together."""
    start = (_PLACES["one"] / "opentelemetry-instrument", _PLACES["one"] / "python")
    _traced(trackrecord, port, "loop", *start, _PROGRAMS / "served.py", "loop", "9")
    traces = traces_file(trackrecord.home)

    def requests() -> int:
        status = read_status(traces)
        counts = {} if status is None else status.counts
        return sum(count for why, count in counts.items() if "requests to a model alone" in why)

    assert until(lambda: requests() == 4)
    assert trackrecord.runs("loop") == []


def test_the_ai_sdk_traces_once_telemetry_is_registered(trackrecord, port):
    """Version 7 has it in a package of its own."""
    program = _AI_SDK / "program.mjs"
    shutil.copyfile(_PROGRAMS / "ai_sdk.mjs", program)
    assert _traced(trackrecord, port, "ai-sdk", "node", program) == "The tests pass."
    assert until(lambda: bool(trackrecord.runs("ai-sdk")))
    (run,) = trackrecord.runs("ai-sdk")
    assert [(call["tool"], call["ok"]) for call in run["calls"]] == _MENDED
    assert (run["success"], run["instruction"]) == (True, _ASKED)
