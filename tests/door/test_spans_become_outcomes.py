"""From a span that was posted to the outcome that waits for a worker, through real processes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.no_tls import NO_TLS
from tests.support.own_token import of_its_user
from tests.support.processes import until
from trackrecord.errors import AlreadyRunning, StoreUnfit
from trackrecord.settings.daemon_settings import DaemonSettings, HttpSettings
from trackrecord_door.protocol.listening import listen
from trackrecord_door.services import create_intake

pytestmark = pytest.mark.timeout(300)

PROTOBUF = {"content-type": "application/x-protobuf"}
NOW_NS = time.time_ns()
FREE = HttpSettings(port=0)


class Serving:
    """A `trackrecord serve` in a process of its own; there is no Redis."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log = home.parent / f"{home.name}-{time.monotonic_ns()}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trackrecord_cli", "serve"],
                env={**os.environ, "TRACKRECORD_HOME": str(home)},
                stdout=log,
                stderr=log,
            )

    def url(self) -> str:
        """Its URL, once it is there."""
        self.until(lambda: "HTTP: " in self.log.read_text())
        return of_its_user(self.log.read_text().partition("HTTP: ")[2].splitlines()[0], self.home)

    def until(self, what: Callable[[], object]) -> None:
        """Wait until something is true."""
        until(lambda: what() or self.process.poll() is not None, explain=self.log.read_text)
        assert self.process.poll() is None, self.log.read_text()

    def spooled(self) -> list[dict]:
        """The outcomes that wait in the spool."""
        return [
            json.loads(line)["body"]
            for file in (self.home / "spool").glob("*")
            for line in file.read_text().splitlines()
            if "outcome_id" in line
        ]


@pytest.fixture
def serve(home: Path) -> Iterator[Callable[[], Serving]]:
    """Starts `serve` in the test's home; ended after the test."""
    started: list[Serving] = []

    def start() -> Serving:
        started.append(Serving(home))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait()
        each.log.unlink()


def a_run(trace: int = 1) -> bytes:
    """The spans of an agent that ran one tool, as OpenTelemetry's conventions have them."""
    request = ExportTraceServiceRequest()
    of_resource = request.resource_spans.add()
    of_resource.resource.attributes.add(key="service.name").value.string_value = "fixer"
    scoped = of_resource.scope_spans.add()
    root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fixer"}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "run_tests"}
    for number, name, attributes in ((1, "invoke_agent", root), (2, "execute_tool", tool)):
        span = scoped.spans.add(
            trace_id=trace.to_bytes(16, "big"),
            span_id=number.to_bytes(8, "big"),
            parent_span_id=b"" if number == 1 else (1).to_bytes(8, "big"),
            name=name,
            start_time_unix_nano=NOW_NS + number,
            end_time_unix_nano=NOW_NS + 10**9 - number,
        )
        for key, value in attributes.items():
            span.attributes.add(key=key).value.string_value = value
    return request.SerializeToString()


def test_a_trace_becomes_an_outcome(serve, home):
    """Once its root has ended; without Redis it goes to the spool."""
    serving = serve()
    answer = httpx.post(
        f"{serving.url()}/v1/traces", content=a_run(), headers=PROTOBUF, timeout=60, verify=NO_TLS
    )
    assert answer.status_code == 200
    serving.until(serving.spooled)
    (outcome,) = serving.spooled()
    assert (outcome["source"], outcome["captured_from"]) == ("fixer", "traces")
    assert [call["tool"] for call in outcome["tool_graph"]] == ["run_tests"]
    serving.process.terminate()
    assert serving.process.wait(200) == 0
    assert "Traceback" not in serving.log.read_text()


def test_what_was_answered_survives_the_process(serve):
    """Killed at once after the answer: the next process publishes the outcome."""
    first = serve()
    answer = httpx.post(
        f"{first.url()}/v1/traces", content=a_run(), headers=PROTOBUF, timeout=60, verify=NO_TLS
    )
    assert answer.status_code == 200
    first.process.kill()
    first.process.wait(200)
    second = serve()
    second.until(second.spooled)
    assert {outcome["captured_from"] for outcome in second.spooled()} == {"traces"}


def test_one_process_serves_a_home(home):
    """A second one says in one line that there is another."""
    settings = DaemonSettings(home=home)
    with listen(FREE) as listener:
        intake = create_intake(settings, listener)
        try:
            with pytest.raises(AlreadyRunning, match="stop it first"):
                create_intake(settings, listener)
        finally:
            intake.close()
        create_intake(settings, listener).close()


def test_a_buffer_that_cannot_be_read(home):
    """One line that names the file and what to do."""
    (home / "traces.db").write_bytes(b"this is not a database" * 100)
    with listen(FREE) as listener, pytest.raises(StoreUnfit, match="move it away"):
        create_intake(DaemonSettings(home=home), listener)
