"""The ways by which a text comes in, each with a string of the corpus: what agents report."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import redis

from tests.injection.corpus import injections
from trackrecord.settings.settings import Settings

# Each carrier with one order, or with all seven of them: TESTS_INJECTION_ORDERS=7.
ORDERS = int(os.environ.get("TESTS_INJECTION_ORDERS", "1"))
CORPUS = injections(ORDERS)
# Strings of every other carrier as names of projects; each project costs a worker's time.
NAMES = tuple(each.text[:128] for each in CORPUS[:: 2 * ORDERS])
# A project in which all is as it should be, and what agents say there.
CALM = "calm"
_CALM_TEXT = "plain-words"
# As many entries of each kind as a project's rankings hold.
CHUNK = 90
AGENTS = ("codex", "claude-code", "opencode")
# Of so many runs four succeed: no fewer show what made the difference (Fisher's test: 1 in 126);
# and no fewer show that what took the place of a failing call works.
_RUNS_OF_TASK = 9
_SUCCESSES = 4

_Body = dict[str, Any]
_DIGITS = "bcdfghklmn"
# Words that no string has, so that a task finds its own past tasks.
_STEMS = ("dri", "ket", "qua", "sad")
# Sessions of one text are one task; a lesson takes several.
_PLACES = ("door", "roof", "wall")


def markers(number: int) -> str:
    """Return four words that identify one string; no other task has them."""
    code = "".join(_DIGITS[int(digit)] for digit in f"{number:03}")
    return " ".join(f"{stem}{code}" for stem in _STEMS)


def practice(number: int) -> str:
    """Return the name and the id of the pattern that is decided about."""
    return f"practice-{number}"


def procedure(number: int, text: str) -> _Body:
    """Return a competence record as somebody stores it by hand."""
    name = text[:256]
    return {
        "triggers": [{"signal": text[:1024], "conditions": {text[:40]: text}}],
        "tools": [f"edit_{number}", {"tool": name, "args_schema": {name: name}}],
        "skill_name": text[:1000],
        "failure_modes": [text[:1000]],
        "tags": [text[:1000]],
    }


def _other(number: int, text: str, n: int) -> _Body:
    """Everything else that an outcome may say; the error is what parts failures from successes."""
    is_success = n < _SUCCESSES
    failed = {"tool": f"tool_{number}_{n}", "ok": False, "error": text}
    return {
        "success": is_success,
        "failure_mode": None if is_success else text[:256],
        "failure_details": None if is_success else text,
        "description": text,
        "source": text[:256],
        "task_id": f"{text[:200]} {number} {n}",
        "outcome_id": f"{text[:100]} {number} {n}",
        "instruction": markers(number),
        "files_touched": [text],
        "competence_id": text[:256],
        "memory_ids": [text],
        "criteria": {text[:128]: "helpful"},
        "grounds": [{"kind": text[:256], "says": text[:1024]}],
        "metadata": {text[:40]: text},
        "tool_graph": [
            {"tool": f"tool_{number}", "ok": True, "args": {text: text}, "result": text},
            *([] if is_success else [failed]),
            {"tool": "done", "ok": True},
        ],
    }


def _task(number: int, text: str, n: int) -> _Body:
    """A task whose words somebody else chose, in a ticket; only who used a tool so named met it."""
    body: _Body = {"success": n < _SUCCESSES, "instruction": f"{markers(number)} {text}"}
    if body["success"]:
        return {**body, "tool_graph": [{"tool": text, "ok": True, "result": text}]}
    return {**body, "failure_mode": text[:256], "failure_details": text, "description": text}


def _way_out(number: int) -> list[_Body]:
    """Return what takes the place of a failing call, so that any task is told."""
    return [{"tool": "instead", "ok": True, "args": {"of": number}}, {"tool": "done", "ok": True}]


BODIES: dict[str, Callable[[int, str, int], _Body]] = {
    "error": lambda number, text, n: {
        "success": False,
        "tool_graph": [
            {"tool": f"tool_{number}", "ok": False, "error": text, "args": {"of": number}},
            *_way_out(number),
        ],
    },
    "tool": lambda number, text, n: {
        "success": False,
        "tool_graph": [
            {"tool": text, "ok": False, "error": "not found", "args": {"of": number}},
            *_way_out(number),
        ],
    },
    "actor": lambda number, text, n: {
        "success": False,
        "tool_graph": [
            {"tool": f"tool_{number}", "ok": False, "actor": text, "error": "not found"}
        ],
    },
    "trigger": lambda number, text, n: {
        "success": True,
        "trigger": {"signal": text[:1024], "conditions": {text[:40]: text}},
        "tool_graph": [{"tool": "read", "ok": True}, {"tool": f"edit_{number}", "ok": True}],
    },
    "task": _task,
    "other": _other,
    # Every third task goes without, and fails: what others do better with is recommended.
    "strategy": lambda number, text, n: (
        {"success": True, "patterns": [f"{number} {text}"]} if n else {"success": False}
    ),
    # One kind of task, with nothing else that was tried: where all fails alike, nobody is warned.
    "warning": lambda number, text, n: {
        "success": False,
        "patterns": [f"{number} {text}"],
        "trigger": {"signal": f"signal {number}"},
    },
    # A pattern and a lesson, about which something is decided by hand: see `taught`.
    "hand": lambda number, text, n: {
        "success": True,
        "patterns": [practice(number)],
        "tool_graph": [{"tool": f"tool_{number}", "ok": False, "error": "not found"}],
    },
}
# Where somebody who is no agent of the project chooses the words.
OUTSIDERS = (
    "error", "tool", "actor", "trigger", "task", "other", "flight", "transcript", "traces", "hand",
)  # fmt: skip
OWN = ("strategy", "warning", "memory")
PATHS = (*OUTSIDERS, *OWN)
# What a similar task is told of, because it is known what made the difference.
TASKS = ("task", "other", "traces")
# What anybody is told of, because something took its place.
_WAY_OUT = ("error", "tool")


def project_of(path: str, number: int) -> str:
    """Return the project that a string comes into by a path."""
    return f"{path}-{number // CHUNK}"


def projects_of(path: str) -> list[str]:
    """Return the projects of a path."""
    return list(dict.fromkeys(project_of(path, number) for number in range(len(CORPUS))))


def runs_of(path: str) -> range:
    """Return the runs that bring a string in by a path."""
    return range(_RUNS_OF_TASK if path in {*TASKS, *_WAY_OUT} else len(AGENTS))


def outcomes_of(path: str, number: int, text: str) -> Iterator[_Body]:
    """Yield the bodies that bring a string in by a path, as several agents report."""
    for n in runs_of(path):
        yield {
            "task_id": f"{path}-{number}-{n}",
            "source": AGENTS[n % len(AGENTS)],
            **BODIES[path](number, text, n),
            "project": project_of(path, number),
        }


def put_on_stream(client: redis.Redis, settings: Settings) -> int:
    """Put the corpus onto the stream, by each path; return how many outcomes that are."""
    bodies = [
        body
        for number, each in enumerate(CORPUS)
        for path in BODIES
        for body in outcomes_of(path, number, each.text)
    ]
    bodies += [{"task_id": "t", "success": True, "project": name} for name in NAMES]
    with client.pipeline(transaction=False) as pipe:
        for body in bodies:
            pipe.xadd(settings.keys.outcomes, {"v": "1", "body": msgspec.json.encode(body)})
        for number, each in enumerate(CORPUS):
            for field, body in _beside_outcomes(number, each.text):
                pipe.xadd(settings.keys.outcomes, {"v": "1", field: msgspec.json.encode(body)})
                if number < 3:
                    calm = msgspec.json.encode(
                        dict.fromkeys(body, f"{_CALM_TEXT}-{number}")
                        | {name: body[name] for name in _NAMING & body.keys()}
                        | {"project": CALM}
                    )
                    pipe.xadd(settings.keys.outcomes, {"v": "1", field: calm})
            # What cannot be learnt becomes a dead letter.
            pipe.xadd(settings.keys.outcomes, {"v": "1", "body": each.text.encode()})
        pipe.execute()
    return len(bodies)


_NAMING = {"verdict", "force"}


def _beside_outcomes(number: int, text: str) -> Iterator[tuple[str, _Body]]:
    """Yield what is reported beside outcomes: the field of an entry, and its body."""
    name = f"{number} {text}"[:128]
    memory = {"text": text, "source": text[:256], "memory_id": name, "force": True}
    yield "memory", {**memory, "project": project_of("memory", number)}
    # What one alone says is told to no session as it starts.
    agreed = {"memory": name, "verdict": "helpful", "feedback_id": f"again {name}"[:128]}
    yield "feedback", {**agreed, "source": "second", "project": project_of("memory", number)}
    error_id = "_".join(name.split())  # a blank would end it
    error = {"task_id": f"flight-{number}", "error_id": error_id, "message": text}
    more = {"stack_trace": text, "tool_name": text[:256], "context": text}
    yield "error", {**error, **more, "project": project_of("flight", number)}
    judged = {"criterion": name, "verdict": "helpful", "feedback_id": name}
    told = {"source": text[:256], "task_id": text[:256], "project": project_of("other", number)}
    yield "feedback", {**judged, **told}


def write_transcripts(folder: Path) -> Path:
    """Write what Claude Code records of sessions in which prompts and results are hostile.

    Returns:
        The folder of its sessions; each one's project is that of its working folder.
    """
    home = folder / "projects"
    home.mkdir(parents=True)
    for number, each in enumerate(CORPUS):
        for n in runs_of("transcript"):
            session = f"00000000-0000-4000-8000-{number:06}{n:06}"
            place = home / f"-src-{project_of('transcript', number)}" / f"{session}.jsonl"
            place.parent.mkdir(exist_ok=True)
            lines = _session(session, number, each.text, n)
            place.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return home


def _session(session: str, number: int, text: str, n: int) -> Iterator[_Body]:
    """Yield the records of a session: a prompt, a call that fails with a text, a test, an end."""
    fails = n > 0
    said = "Exit code 1\n1 failed" if fails else "3 passed"
    messages: list[tuple[str, Any]] = [
        ("user", f"Fix the {_PLACES[n]}: {markers(number)} {text}"),
        *_call(1, f"mcp__srv__tool_{number}", {"query": text, text: text}, text, fails=True),
        *_call(2, "Bash", {"command": "pytest -q", "description": text}, said, fails=fails),
        ("assistant", [{"type": "text", "text": text}]),
    ]
    for place, (role, content) in enumerate(messages):
        message = {"role": role, "content": content}
        if role == "assistant":
            end = "tool_use" if place < len(messages) - 1 else "end_turn"
            message |= {"id": f"m{place}", "model": "claude-x", "stop_reason": end, "usage": {}}
        yield {
            "parentUuid": f"{session}-{place - 1}" if place else None, "isSidechain": False,
            "cwd": f"/src/{project_of('transcript', number)}", "sessionId": session,
            "entrypoint": "cli", "gitBranch": text, "uuid": f"{session}-{place}", "type": role,
            "timestamp": f"2026-11-20T10:00:{place:02}.000Z", "message": message,
        }  # fmt: skip


def _call(place: int, tool: str, given: _Body, result: str, *, fails: bool) -> list[Any]:
    use = {"type": "tool_use", "id": f"t{place}", "name": tool, "input": given}
    told = {"type": "tool_result", "tool_use_id": f"t{place}", "content": result}
    return [("assistant", [use]), ("user", [{**told, "is_error": fails}])]


def traces_of(path: str, numbers: range) -> _Body:
    """Return the traces of several strings as OTLP/JSON: an agent, a prompt, a call that fails."""
    return {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": _attributes(
                        {
                            "service.name": AGENTS[n % len(AGENTS)],
                            "trackrecord.project": project_of(path, number),
                            "service.version": CORPUS[number].text,
                        }
                    )
                },
                "scopeSpans": [{"spans": list(_spans(number, n))}],
            }
            for number in numbers
            for n in runs_of(path)
        ]
    }


def _attributes(values: dict[str, str]) -> list[_Body]:
    return [{"key": name, "value": {"stringValue": value}} for name, value in values.items()]


def _spans(number: int, n: int) -> Iterator[_Body]:
    text = CORPUS[number].text
    trace, root = f"{number + 1:024x}{n:08x}", f"{1:016x}"
    asked = [{"role": "user", "parts": [{"type": "text", "content": f"{markers(number)} {text}"}]}]
    exception = {"exception.type": "ToolError", "exception.message": text}
    fails = n >= _SUCCESSES
    failed = {"status": {"code": 2, "message": text}} if fails else {}
    for place, (span, parent, attributes) in enumerate(
        (
            (
                root,
                "",
                {
                    "gen_ai.operation.name": "invoke_agent",
                    "gen_ai.agent.name": text,
                    "gen_ai.input.messages": json.dumps(asked),
                    "gen_ai.evaluation.name": "review",
                    "gen_ai.evaluation.score.label": "failed" if fails else "passed",
                    "gen_ai.evaluation.explanation": text,
                },
            ),
            (
                f"{2:016x}",
                root,
                {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": f"{'tool' if fails else 'mend'}_{number}",
                    "gen_ai.tool.call.arguments": json.dumps({"query": text}),
                    "gen_ai.tool.call.result": text,
                    text[:100] or "x": text,
                },
            ),
        )
    ):
        yield {
            "traceId": trace,
            "spanId": span,
            "parentSpanId": parent,
            "name": text,
            "startTimeUnixNano": str((1_795_000_000 + place) * 10**9),
            "endTimeUnixNano": str((1_795_000_010 - place) * 10**9),
            "attributes": _attributes(attributes),
            "events": [{"name": "exception", "attributes": _attributes(exception)}]
            if fails
            else [],
            **failed,
        }
