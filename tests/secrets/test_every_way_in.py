"""No secret is kept, whichever way it comes in: of 71 kinds, by every way there is."""

import asyncio
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import redis

from tests.mcp_server.mcp_served import Served
from tests.secrets.kinds import KINDS, PARTS
from tests.secrets.reporting_agent import outcome
from tests.support.processes import trackrecord_up, until
from trackrecord.redis.client import worker_client
from trackrecord.settings.settings import load_settings
from trackrecord_capture.agents.apply_plan import install, plan_install
from trackrecord_capture.agents.known import AGENTS
from trackrecord_capture.agents.runtime import wrapper_path

pytestmark = pytest.mark.faults

TEXTS = list(KINDS.values())
THREAD = "01a20168-5106-7f52-b27b-c498fee45552"
PROJECT = "secrets"
_SECRET = re.compile(b"|".join(PARTS))


class Fleet(NamedTuple):
    """A trackrecord that is up, with its user's home and the log of its processes."""

    served: Served
    user: Path
    log: Path
    client: redis.Redis
    texts: Sequence[str] = ()

    def settled(self) -> None:
        """Wait until all that was reported is learnt or set aside."""
        keys = load_settings(home=self.served.home).keys
        until(lambda: not self.client.xlen(keys.outcomes))

    def count(self, source: str) -> int:
        """Return the number of recorded runs whose ids begin so."""
        return sum(each.startswith(source) for each in self.outcome_ids())

    def outcome_ids(self) -> list[str]:
        """Return the ids of all runs on record."""
        path = self.served.home / "trackrecord.db"
        with closing(sqlite3.connect(path, timeout=60)) as database:
            return [each for (each,) in database.execute("SELECT outcome_id FROM outcomes")]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A real `trackrecord up`, with the hooks of Codex."""
    folder = tmp_path_factory.mktemp("f")
    home, user, log = folder / "h", folder / "user", folder / "up.log"
    user.mkdir()
    environment = {**os.environ, "HOME": str(user), "TRACKRECORD_HOME": str(home)}
    with trackrecord_up(environment, log) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(user))
        install(AGENTS["codex"], home, plan_install(AGENTS["codex"], home))
        with worker_client(load_settings(home=home)) as client:
            yield Fleet(Served(home, address), user, log, client)


# --- the ways


def by_python(fleet: Fleet) -> None:
    """publish, spool, attempt, remember, feedback, record_error."""
    subprocess.run(
        [sys.executable, "-m", "tests.secrets.reporting_agent"],
        input=json.dumps(fleet.texts), text=True, check=True, timeout=300,
        env=fleet.served.environment(),
    )  # fmt: skip
    fleet.settled()
    for way in ("publish", "spool", "attempt"):
        until(lambda way=way: fleet.count(f"{way}-") == len(fleet.texts))


def by_http(fleet: Fleet) -> None:
    """Outcomes, memories, errors, feedback."""
    with httpx.Client(base_url=f"{fleet.served.url}/api/v1", timeout=60) as http:
        outcomes = [outcome(f"http-{number}", text) for number, text in enumerate(fleet.texts)]
        assert http.post("/outcomes", json=outcomes).json()["taken"] == len(fleet.texts)
        for number, text in enumerate(fleet.texts):
            for path, body in (
                ("memories", {"text": text, "force": True}),
                ("errors", {"task_id": f"http-{number}", "message": text, "stack_trace": text,
                            "context": text}),
                ("feedback", {"verdict": "harmful", "criterion": text[:120].strip()}),
            ):  # fmt: skip
                answer = http.post(f"/{path}", json=body, params={"project": PROJECT})
                assert answer.status_code in (200, 201), answer.text
    fleet.settled()
    assert fleet.count("http-") == len(fleet.texts)


def by_xadd(fleet: Fleet) -> None:
    """Add to the stream; also what cannot be learnt."""
    stream = load_settings(home=fleet.served.home).keys.outcomes
    for number, text in enumerate(TEXTS):
        of = {"project": PROJECT}
        for fields in (
            {"body": json.dumps(outcome(f"xadd-{number}", text))},
            {"memory": json.dumps({"text": text, "force": True, **of})},
            {
                "error": json.dumps(
                    {"task_id": f"x-{number}", "message": text, "context": text, **of}
                )
            },
            {"feedback": json.dumps({"verdict": "helpful", "criterion": text[:120].strip(), **of})},
            {"body": json.dumps({**outcome(f"bad-{number}", text), "success": text})},
            {"body": json.dumps({**outcome(f"bad-{number}", text), "tool_graph": [text]})},
            {"body": text},
            {"said": text},
            {"body": json.dumps({"metadata": {"x": text * 200_000}})},
        )[: 9 if number < 2 else 8]:
            fleet.client.xadd(stream, {"v": "1", **fields})
    fleet.settled()
    assert fleet.count("xadd-") == len(TEXTS)


class Rollout:
    """A session, as Codex writes it down."""

    def __init__(self, fleet: Fleet, thread: str, folder: str) -> None:
        day = fleet.user / ".codex" / "sessions" / "2026" / "11" / "22"
        day.mkdir(parents=True, exist_ok=True)
        self.path = day / f"rollout-2026-11-22T03-59-03-{thread}.jsonl"
        self.thread, self._folder = thread, folder
        self._write("session_meta", {"id": thread, "cwd": folder, "source": "cli"})

    def _write(self, kind: str, payload: dict[str, Any]) -> None:
        line = {"timestamp": "2026-11-22T03:59:03.500Z", "type": kind, "payload": payload}
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def turn(self, name: str, text: str) -> None:
        """A turn in which a text is asked, run and answered; of this session alone, by its id."""
        name = f"{self.thread}-{name}"
        event, item = "event_msg", "response_item"
        self._write(event, {"type": "task_started", "turn_id": name})
        self._write("turn_context", {"turn_id": name, "cwd": self._folder, "model": "m"})
        self._write(event, {"type": "user_message", "message": f"Do it: {text}", "images": []})
        for call, answer in (("a", f"Exit code: 1\nOutput:\n{text}"), ("b", f"error: {text}")):
            given = json.dumps({"cmd": text, "note": text, "workdir": f"/src/{name}"})
            called = {"type": "function_call", "name": "exec_command", "arguments": given}
            self._write(item, {**called, "call_id": name + call})
            output = {"type": "function_call_output", "call_id": name + call, "output": answer}
            self._write(item, output)
        self._write(event, {"type": "task_complete", "turn_id": name, "last_agent_message": text})


def by_hooks(fleet: Fleet) -> None:
    """The notify program of Codex, at the end of each turn."""
    rollout = Rollout(fleet, THREAD, f"/src/{PROJECT}")
    for number, text in enumerate(fleet.texts):
        rollout.turn(f"t{number}", text)
    given = {
        "type": "agent-turn-complete",
        "thread-id": THREAD,
        "turn-id": f"{THREAD}-t{len(fleet.texts) - 1}",
    }
    given["last-assistant-message"] = fleet.texts[0]
    wrapper = str(wrapper_path(fleet.served.home))
    subprocess.run([wrapper, "codex", json.dumps(given)], check=True, env={"HOME": str(fleet.user)})
    until(lambda: fleet.count(f"codex:{THREAD}") == len(fleet.texts))


def by_transcripts(fleet: Fleet) -> None:
    """The import of recorded sessions."""
    thread = THREAD.replace("01a2", "01a3")
    rollout = Rollout(fleet, thread, f"/src/{PROJECT}")
    for number, text in enumerate(fleet.texts):
        rollout.turn(f"t{number}", text)
    fleet.served.command("import", "codex", str(rollout.path))
    until(lambda: fleet.count(f"codex:{thread}") == len(fleet.texts))


def by_otlp(fleet: Fleet) -> None:
    """Traces of a framework."""
    now, known = time.time_ns(), len(fleet.outcome_ids())

    def attributes(**given: str) -> list[dict[str, Any]]:
        return [
            {"key": name.replace("__", "."), "value": {"stringValue": value}}
            for name, value in given.items()
        ]

    def span(trace: int, number: int, **fields: Any) -> dict[str, Any]:
        parent = {"parentSpanId": f"{trace * 10 + 1:016x}"} if number > 1 else {}
        ids = {"traceId": f"{trace + 1:032x}", "spanId": f"{trace * 10 + number:016x}"}
        times = {"startTimeUnixNano": str(now - 10**9), "endTimeUnixNano": str(now)}
        return {**ids, **parent, **times, **fields}

    with httpx.Client(base_url=fleet.served.url, timeout=60) as http:
        for number, text in enumerate(fleet.texts):
            failed = {"status": {"code": 2, "message": text}}
            agent = attributes(
                gen_ai__operation__name="invoke_agent", gen_ai__agent__name="ann",
                trackrecord__project=PROJECT, gen_ai__conversation__id=f"c{number}",
                gen_ai__input__messages=json.dumps(
                    [{"role": "user", "parts": [{"type": "text", "content": text}]}]
                ),
            )  # fmt: skip
            tool = attributes(
                gen_ai__operation__name="execute_tool", gen_ai__tool__name="sh",
                gen_ai__tool__call__arguments=json.dumps({"command": text}),
                gen_ai__tool__call__result=text, error__type="x", exception__message=text,
            )  # fmt: skip
            spans = [
                span(number, 1, name="invoke_agent ann", attributes=agent, **failed),
                span(number, 2, name="execute_tool sh", attributes=tool, **failed),
            ]
            resource = {
                "attributes": attributes(service__name="otlp", trackrecord__project=PROJECT)
            }
            sent = [{"resource": resource, "scopeSpans": [{"spans": spans}]}]
            assert http.post("/v1/traces", json={"resourceSpans": sent}).status_code == 200
    until(lambda: len(fleet.outcome_ids()) == known + len(fleet.texts))


def by_mcp(fleet: Fleet) -> None:
    """An agent that remembers and reports by tools."""

    async def report() -> None:
        async with fleet.served.over_http(project=PROJECT) as agent:
            for number, text in enumerate(fleet.texts):
                for tool, given in (
                    ("remember", {"text": text}),
                    ("report_outcome", {"task_id": f"m{number}", "success": False, "task": text,
                                        "strategy": text, "failure_details": text}),
                ):  # fmt: skip
                    answer = await agent.call_tool(tool, given)
                    assert not answer.is_error, answer

    asyncio.run(report())
    fleet.settled()
    assert fleet.count("mcp-") == len(fleet.texts)


WAYS = (by_python, by_hooks, by_transcripts, by_mcp, by_http, by_otlp)


# --- where nothing may be left

PAGES = (
    "", "commands", "lessons", "patterns", "procedures", "memories", "criteria", "runs", "prompt",
    "dead-letters", "effect",
)  # fmt: skip
ANSWERS = ("rankings", "errors", "dead-letters", "runs", "memories", "feedback", "patterns")
SHOWN = (*PAGES, *(f"api/v1/{name}" for name in ANSWERS))


def in_redis(client: redis.Redis) -> bytes:
    """Return everything that Redis holds."""
    read: dict[bytes, Callable[[bytes], object]] = {
        b"stream": client.xrange,
        b"hash": client.hgetall,
        b"string": client.get,
        b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1),
        b"list": lambda key: client.lrange(key, 0, -1),
    }
    held = [(key, read[client.type(key)](key)) for key in client.scan_iter(count=1000)]
    return repr(held).encode()


def shown(fleet: Fleet) -> Iterator[tuple[str, bytes]]:
    """Yield everything that a person, a program or an agent can read of it."""
    command = fleet.served.command
    export, backup = fleet.log.parent / "export.jsonl", fleet.log.parent / "backup"
    for file in (export, backup):
        file.unlink(missing_ok=True)
    command("export", str(export), "--project", PROJECT)
    command("backup", str(backup))
    yield "export", export.read_bytes()
    yield "backup", backup.read_bytes()
    with httpx.Client(base_url=fleet.served.url, timeout=60, follow_redirects=True) as http:
        for path in SHOWN:
            page = http.get(f"/{path}", params={"project": PROJECT})
            assert page.status_code == 200, page.text
            yield path, page.content


def in_files(home: Path) -> dict[str, list[str]]:
    """Return the surroundings of the secrets in each file of the home."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return {str(path.relative_to(home)): left_in(path.read_bytes()) for path in files}


def left_in(content: bytes) -> list[str]:
    """Return the surroundings of the secrets in some content."""
    places = [found.start() for found in _SECRET.finditer(content)][:5]
    return [content[max(0, at - 80) : at + 30].decode(errors="replace") for at in places]


def test_no_secret_is_kept_or_shown(fleet: Fleet) -> None:
    """Not in the database, the spool, Redis, a log, an export, a backup, a prompt or a page."""
    for number, way in enumerate(WAYS):
        # Each way by a third of the kinds, each kind by two ways and by the stream itself.
        way(fleet._replace(texts=TEXTS[number % 3 :: 3]))
    fleet.settled()
    left = {f"file {name}": found for name, found in in_files(fleet.served.home).items()}
    # Redis's own file has what others add to the stream, as it comes, until it is rewritten.
    by_xadd(fleet)
    left |= {
        name: found
        for name, found in in_files(fleet.served.home).items()
        if not name.startswith("redis/")
    }
    left |= {"Redis": left_in(in_redis(fleet.client)), "log": left_in(fleet.log.read_bytes())}
    left |= {name: left_in(content) for name, content in shown(fleet)}
    assert {name: found for name, found in left.items() if found} == {}
