"""`trackrecord run`: a program is traced from outside, and never notices."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from tests.door.raw_http import OWN_TOKEN

_TRACKRECORD = (sys.executable, "-m", "trackrecord_cli")
# A framework that is instrumented as pydantic-ai is, and a program that uses it.
_FRAMEWORK = """
from dataclasses import dataclass

@dataclass
class InstrumentationSettings:
    tracer_provider: object

class Agent:
    settings = None

    @classmethod
    def instrument_all(cls, settings):
        Agent.settings = settings

    def run(self, prompt):
        tracer = Agent.settings.tracer_provider.get_tracer("pydantic-ai")
        told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": prompt}
        with tracer.start_as_current_span("invoke_agent fixer", attributes=told):
            pass
"""
_PROGRAM = "from pydantic_ai import Agent\nAgent().run('Fix it')\n"


@pytest.fixture
def start(tmp_path):
    """Starts `trackrecord run PYTHON …` in a folder of its own, with what a test says."""
    folder = tmp_path / "work"
    (folder / "installed").mkdir(parents=True)
    started = []

    def begin(*arguments, port, program="", options=(), **environment):
        (folder / "agent.py").write_text(program)
        process = subprocess.Popen(
            [*_TRACKRECORD, "run", *options, sys.executable, *(arguments or ("agent.py",))],
            cwd=folder,
            env=os.environ
            | {
                "TRACKRECORD_HOME": str(begin.home),
                "TRACKRECORD_HTTP__PORT": str(port),
                # As that of a container: there is no front door in this home.
                "TRACKRECORD_HTTP__TOKEN": OWN_TOKEN,
                "PYTHONPATH": str(folder / "installed"),
            }
            | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    begin.folder = folder
    begin.home = tmp_path / "home"
    begin.installed = folder / "installed"
    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def listening():
    """The port of something that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def ended(process):
    output, errors = process.communicate(timeout=120)
    return process.returncode, output, errors


def test_a_program_without_tracing_sends_its_spans_with_its_folder_and_project(start, emptied_door):
    """Its framework is instrumented as it is imported; the program has not one line for it."""
    (start.installed / "pydantic_ai.py").write_text(_FRAMEWORK)
    process = start(port=emptied_door.port, program=_PROGRAM, options=("--project", "shop"))
    assert ended(process) == (0, "", "")
    emptied_door.until(lambda: emptied_door.taken("span"))
    (told,) = emptied_door.taken("span")
    assert told["name"] == "invoke_agent fixer"
    resource = told["resource"]
    assert resource["service.name"] == "agent"
    assert resource["trackrecord.project"] == "shop"
    assert resource["trackrecord.folder"] == str(start.folder)


# CrewAI's event bus: events name the one around them, and those that end name what they end.
_CREWAI = """
from datetime import datetime, timedelta, timezone
from itertools import count

NAMES = (
    "CrewKickoffStarted CrewKickoffCompleted TaskStarted AgentExecutionStarted "
    "AgentExecutionCompleted FlowStarted ToolUsageStarted ToolUsageFinished ToolUsageError"
)
ticks = count()
BEGAN = datetime(2026, 11, 22, 3, tzinfo=timezone.utc)

class Event:
    def __init__(self, parent=None, **told):
        tick = next(ticks)
        self.event_id, self.timestamp = f"e{tick}", BEGAN + timedelta(seconds=tick)
        self.parent_event_id = parent and parent.event_id
        self.__dict__.update(told)

class Bus:
    handlers = {}

    def on(self, kind):
        return lambda handler: self.handlers.setdefault(kind, []).append(handler)

    def emit(self, event):
        for handler in self.handlers.get(type(event), ()):
            handler(None, event)
        return event

for name in NAMES.split():
    globals()[f"{name}Event"] = type(f"{name}Event", (Event,), {})
crewai_event_bus = Bus()
"""
_CREW = """
from types import SimpleNamespace as Told
from crewai import events
from crewai.events import *

emit = events.crewai_event_bus.emit
crew = emit(CrewKickoffStartedEvent(crew_name="menders"))
task = emit(TaskStartedEvent(crew, task=Told(description="Fix the build")))
agent = emit(AgentExecutionStartedEvent(task, agent_role="fixer"))
# CrewAI runs its agents by flows of its own.
flow = emit(FlowStartedEvent(agent, flow_name="AgentExecutor"))
for kind, told in (
    (ToolUsageErrorEvent, {"error": ValueError("no such file")}),
    (ToolUsageFinishedEvent, {"output": "", "failure": Told(message="not allowed")}),
    (ToolUsageFinishedEvent, {"output": "12 lines"}),
    (ToolUsageFinishedEvent, {"tool_args": object()}),
):
    call = emit(ToolUsageStartedEvent(flow))
    told = {"tool_name": "read", "tool_args": {"path": "a"}, **told}
    emit(kind(flow, started_event_id=call.event_id, **told))
emit(TaskStartedEvent(crew, task=Told(description="Say so")))
emit(AgentExecutionCompletedEvent(task, started_event_id=agent.event_id))
emit(CrewKickoffCompletedEvent(started_event_id=crew.event_id))
"""


def test_a_crew_sends_its_calls_although_no_instrumentation_has_them(start, emptied_door):
    """They are on CrewAI's event bus, with the errors that it repairs by itself."""
    (start.installed / "crewai").mkdir()
    (start.installed / "crewai" / "__init__.py").write_text("")
    (start.installed / "crewai" / "events.py").write_text(_CREWAI)
    assert ended(start(port=emptied_door.port, program=_CREW)) == (0, "", "")
    emptied_door.until(lambda: len(emptied_door.taken("span")) == 6)
    spans = {span["span_id"]: span for span in emptied_door.taken("span")}
    (crew,) = (span for span in spans.values() if span["name"] == "invoke_agent menders")
    (agent,) = (span for span in spans.values() if span["name"] == "invoke_agent fixer")
    assert crew["attributes"]["user_prompt"] == "Fix the build"
    assert spans[agent["parent_id"]] is crew
    calls = [span for span in spans.values() if span["name"] == "execute_tool read"]
    said = [(call["status"], call["status_message"]) for call in calls]
    went_well = ("unset", "")
    failed = [("error", "ValueError: no such file"), ("error", "not allowed")]
    assert said == [*failed, went_well, went_well]
    told = calls[2]["attributes"]
    assert told["gen_ai.tool.call.arguments"] == '{"path": "a"}'
    assert told["gen_ai.tool.call.result"] == "12 lines"
    assert {call["parent_id"] for call in calls} == {agent["span_id"]}


_OWN = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from pydantic_ai import Agent
mine = TracerProvider()
mine.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=lambda s: s.name)))
trace.set_tracer_provider(mine)
assert trace.get_tracer_provider() is mine
Agent().run("Fix it")
"""


def test_a_program_that_traces_by_itself_keeps_its_own_tracing(start, emptied_door):
    """Its provider is the global one and gets every span; the front door gets them, too."""
    (start.installed / "pydantic_ai.py").write_text(_FRAMEWORK)
    status, output, errors = ended(start(port=emptied_door.port, program=_OWN))
    assert (status, output, errors) == (0, "invoke_agent fixer", "")
    emptied_door.until(lambda: emptied_door.taken("span"))
    assert len(emptied_door.taken("span")) == 1


def test_what_is_missing_is_said_in_one_line_and_the_program_runs(start, listening):
    """The line names the packages, and the Python that lacks them."""
    (start.installed / "smolagents.py").write_text("READY = True\n")
    program = "import smolagents\nprint(smolagents.READY)\n"
    status, output, errors = ended(start(port=listening, program=program))
    assert (status, output) == (0, "True\n")
    assert errors == (
        "trackrecord: nothing of smolagents is recorded; install what it takes: "
        f"{sys.executable} -m pip install openinference-instrumentation-smolagents\n"
    )


def test_an_instrumentation_that_raises_is_said_in_one_line_and_the_program_runs(start, listening):
    """Nothing of ours may break the agent."""
    (start.installed / "pydantic_ai.py").write_text("READY = True\n")
    program = "import pydantic_ai\nprint(pydantic_ai.READY)\n"
    status, output, errors = ended(start(port=listening, program=program))
    assert (status, output) == (0, "True\n")
    assert errors.startswith("trackrecord: nothing of pydantic-ai is recorded: AttributeError")
    assert errors.count("\n") == 1


def test_an_instrumentation_that_refuses_the_framework_is_said_in_one_line(start, listening):
    """OpenTelemetry's instrumentors return without a word where the version is another."""
    (start.installed / "smolagents.py").write_text("READY = True\n")
    folder = start.installed / "openinference" / "instrumentation"
    folder.mkdir(parents=True)
    (folder / "smolagents.py").write_text(
        "class SmolagentsInstrumentor:\n"
        "    is_instrumented_by_opentelemetry = False\n"
        "    def instrument(self, **options):\n"
        "        pass\n"
    )
    program = "import smolagents\nprint(smolagents.READY)\n"
    status, output, errors = ended(start(port=listening, program=program))
    assert (status, output) == (0, "True\n")
    assert errors == (
        "trackrecord: nothing of smolagents is recorded: RuntimeError: openinference."
        "instrumentation.smolagents does not fit the installed version of the framework\n"
    )


def test_a_program_without_a_framework_is_told_so_at_its_end(start, listening):
    """A person who expected a recording learns why there is none."""
    status, _, errors = ended(start(port=listening, program="print('done')"))
    assert status == 0
    assert errors.startswith("trackrecord: nothing was recorded: the program used none of ")


def test_without_a_daemon_the_program_runs_and_one_line_says_that_nothing_is_recorded(start):
    """Nobody listens on the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    status, output, errors = ended(start(port=port, program="print('done')"))
    assert (status, output) == (0, "done\n")
    assert errors == (
        f"trackrecord: nothing is recorded: no daemon answers in {start.home}; "
        "start one with `trackrecord up`\n"
    )


def test_the_exit_status_is_the_programs_own(start, listening):
    """Also that of an exception."""
    assert ended(start(port=listening, program="import sys; sys.exit(7)"))[0] == 7
    status, _, errors = ended(start(port=listening, program="raise ValueError('boom')"))
    assert status == 1
    assert "ValueError: boom" in errors


def test_a_signal_reaches_the_program(start, listening):
    """It is the very process that was started."""
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    process = start(port=listening, program=program)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 5


def test_options_of_the_program_are_its_own(start, listening):
    """Nothing after the program's name is read as ours."""
    process = start("-c", "import sys; print(sys.argv[1:])", "--project", "x", port=listening)
    assert ended(process)[1] == "['--project', 'x']\n"


def test_the_environments_own_sitecustomize_is_loaded(start, listening):
    """What stands behind ours on the path is hidden by it, and loaded by it."""
    (start.installed / "sitecustomize.py").write_text("import builtins; builtins.OWN = 1\n")
    assert ended(start(port=listening, program="print(OWN)"))[1] == "1\n"


def test_programs_that_the_agent_starts_are_left_alone(start, listening):
    """A test run that an agent starts is not the agent."""
    (start.installed / "smolagents.py").write_text("")
    program = (
        "import smolagents, subprocess, sys\n"
        "ask = 'import os, sys; print([p for p in sys.path if \"zero_code\" in p], '\n"
        "ask += '[n for n in os.environ if n.startswith(\"TRACKRECORD_RUN\")])'\n"
        "subprocess.run([sys.executable, '-c', ask])\n"
    )
    assert ended(start(port=listening, program=program))[1] == "[] []\n"


def test_a_program_ends_although_the_front_door_never_answers(start, listening):
    """The socket takes the connection, and nobody reads from it."""
    (start.installed / "pydantic_ai.py").write_text(_FRAMEWORK)
    status, _, errors = ended(start(port=listening, program=_PROGRAM))
    assert (status, errors) == (0, "")


def test_a_program_that_is_not_there_is_wrong_use(tmp_path):
    """In one line, with exit status 2."""
    told = subprocess.run(
        [*_TRACKRECORD, "run", "no-such-program"],
        env=os.environ | {"TRACKRECORD_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 2
    assert "no-such-program: there is no such program" in told.stderr
