"""Spans that a real front door answered with 200 become an outcome, whatever happens then."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.support.no_tls import NO_TLS
from tests.support.own_token import of_its_user
from trackrecord.settings.http_settings import HttpSettings
from trackrecord_door.protocol.listening import listen, url_of

_PATIENCE_S = 60.0
_TRACE = "5b8efff798038103d269b633813fc60c"


def _told(**attributes):
    return [{"key": name, "value": {"stringValue": value}} for name, value in attributes.items()]


def _span(span_id, parent, start, **attributes):
    return {
        "traceId": _TRACE,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": "a span",
        "startTimeUnixNano": str((1_795_000_000 + start) * 10**9),
        "endTimeUnixNano": str((1_795_000_001 + start) * 10**9),
        "attributes": _told(**attributes),
    }


_ROOT = _span("00000000000000a1", "", 0, **{"gen_ai.operation.name": "invoke_agent"})
_CALL = _span(
    "00000000000000a2",
    "00000000000000a1",
    0,
    **{
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "bash",
        "gen_ai.tool.call.arguments": '{"command": "pytest -q"}',
        "gen_ai.tool.call.result": '{"exit_code": 1, "output": "2 failed"}',
    },
)


def _body(*spans):
    resource = {"attributes": _told(**{"service.name": "mender"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


@pytest.fixture
def start(tmp_path):
    """Start a front door as `up` does; without Redis, outcomes go to the spool."""
    started = []

    def begin():
        listener = listen(HttpSettings(port=0))
        environment = os.environ | {
            "TRACKRECORD_HOME": str(tmp_path),
            "TRACKRECORD_REDIS_URL": "redis://127.0.0.1:1/0",
        }
        log = (tmp_path / "door.log").open("ab")
        with listener, log:
            process = subprocess.Popen(
                [sys.executable, "-m", "trackrecord_door", str(listener.fileno())],
                env=environment,
                pass_fds=(listener.fileno(),),
                stdout=log,
                stderr=log,
            )
            started.append(process)
            return process, of_its_user(url_of(listener), tmp_path)

    yield begin
    for process in started:
        process.kill()
        process.wait()


def _spooled(home: Path):
    lines = [line for path in home.glob("spool/*") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines if _TRACE in line]


def _post(door, *spans):
    url = f"{door}/v1/traces"
    assert (
        httpx.post(url, json=_body(*spans), timeout=_PATIENCE_S, verify=NO_TLS).status_code == 200
    )


@pytest.mark.faults
def test_a_front_door_that_is_killed_after_its_answer_loses_nothing(start, tmp_path):
    """The call came before the kill and the root after it: one run, with its test's verdict."""
    process, door = start()
    _post(door, _CALL)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _, door = start()
    _post(door, _ROOT)
    deadline = time.monotonic() + _PATIENCE_S
    while not _spooled(tmp_path):
        assert time.monotonic() < deadline, (tmp_path / "door.log").read_text()
        time.sleep(0.05)
    text = json.dumps(_spooled(tmp_path)[-1])
    assert f"mender:{_TRACE}" in text
    assert "check failed" in text
