"""Recorded runs of τ-bench: an agent, its tools and a simulated customer.

A run is `{task_id, reward, info, traj, trial}`; `traj` is the chat. A reward of 1.0 is a success,
found by the benchmark's evaluator. An answer of a tool that starts with "Error" is a tool error. A
run that crashed holds `info: {error, traceback}` and no chat: it is a failure with that error. No
run names its agent, but the file is named after it: the file's name is the outcome's source. The
recordings hold no times at all, so the outcomes have neither timestamp nor durations.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trackrecord.errors import InvalidOutcome
from trackrecord.inflight.classification import classify_failure

from ..bodies.body import write_body
from .json_array import read_items
from .records import Imported, Rejected, stable_id
from .values import arguments_in, clean

SOURCE = "tau-bench"
_LONGEST_SOURCE = 128
_TASK_DIGITS = 8
_LONGEST_ERROR = 1000


class _WrongShape(Exception):
    """Raised when a part of a run does not match the format."""


def read_tau_bench(path: Path) -> Iterator[Imported | Rejected]:
    """Yield the outcomes of a file of recorded runs one by one; a bad record stops no other one.

    Raises:
        ImportFormatError: the file cannot be read or is not an array of objects; the message names
            the file and the record.
    """
    source = str(clean(path.stem))[:_LONGEST_SOURCE] or SOURCE
    for record, run in read_items(path):
        try:
            _of_type(run, dict, "the record")
            fields = _crashed(run) if _has_crashed(run) else _outcome(run)
            fields["source"] = source
            write_body(fields)
        except (_WrongShape, InvalidOutcome, RecursionError) as error:
            yield Rejected(record, f"not a run of tau-bench: {error}")
        else:
            yield Imported(record, fields)


def task_of(run: dict[str, Any]) -> str | None:
    """Return the name of a run's task, as its outcome has it; None without one."""
    try:
        return _task(run, _instruction(run))
    except _WrongShape:
        return None


def _has_crashed(run: dict[str, Any]) -> bool:
    """Return whether the run crashed before the benchmark could evaluate it."""
    info = run.get("info")
    return isinstance(info, dict) and "error" in info and "task" not in info and not run.get("traj")


def _crashed(run: dict[str, Any]) -> dict[str, Any]:
    error = run["info"]["error"]
    said = error if isinstance(error, str) else json.dumps(error)
    return {
        "outcome_id": stable_id(SOURCE, _canonical(run)),
        "task_id": f"{SOURCE}/{_number(run)}",
        "success": False,
        "outcome_source": "evaluator",
        "failure_mode": classify_failure(said),
        "error_count": 1,
        "failure_details": clean(said[:_LONGEST_ERROR]),
        "tool_graph": [],
    }


def _outcome(run: dict[str, Any]) -> dict[str, Any]:
    instruction = _instruction(run)
    tool_graph = list(_tool_calls(_get(run, "traj", list)))
    return {
        "outcome_id": stable_id(SOURCE, _canonical(run)),
        "task_id": _task(run, instruction),
        "success": _reward(run) == 1,
        "outcome_source": "evaluator",
        "instruction": instruction,
        "error_count": sum(call.get("ok") is False for call in tool_graph),
        "tool_graph": tool_graph,
    }


def _canonical(run: dict[str, Any]) -> bytes:
    """Return a run in canonical form, independent of the file's layout."""
    return json.dumps(run, sort_keys=True, separators=(",", ":")).encode()


def _task(run: dict[str, Any], instruction: str) -> str:
    """Return the task's name; each of the benchmark's domains uses the same numbers."""
    digest = hashlib.sha256(instruction.encode()).hexdigest()
    return f"{SOURCE}/{_number(run)}-{digest[:_TASK_DIGITS]}"


def _number(run: dict[str, Any]) -> str:
    number = run.get("task_id")
    if isinstance(number, bool) or not isinstance(number, (int, str)):
        message = "task_id is neither a number nor a text"
        raise _WrongShape(message)
    return str(clean(str(number)))


def _instruction(run: dict[str, Any]) -> str:
    task = _get(_get(run, "info", dict), "task", dict)
    return str(clean(_get(task, "instruction", str)))


def _reward(run: dict[str, Any]) -> int | float:
    reward = run.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, (int, float)):
        message = "reward is not a number"
        raise _WrongShape(message)
    return reward


def _tool_calls(chat: list[Any]) -> Iterator[dict[str, Any]]:
    answers = _answers(chat)
    for message in chat:
        for call in _of_type(message.get("tool_calls") or [], list, "tool_calls"):
            function = _get(_of_type(call, dict, "a tool call"), "function", dict)
            call_id = call.get("id")
            described = {
                "tool": clean(_get(function, "name", str)),
                "args": arguments_in(function.get("arguments")),
            }
            if isinstance(call_id, str):
                described["id"] = clean(call_id)
            waiting = answers.get(str(call_id))
            yield described | (_result(waiting.pop(0)) if waiting else {})


def _answers(chat: list[Any]) -> dict[str, list[str]]:
    """Return the tools' answers to each call, in order: the recordings reuse some ids."""
    answers: dict[str, list[str]] = {}
    for message in chat:
        _of_type(message, dict, "a message of traj")
        if message.get("role") == "tool":
            content = message.get("content")
            answer = content if isinstance(content, str) else json.dumps(content)
            answers.setdefault(str(message.get("tool_call_id")), []).append(answer)
    return answers


def _result(answer: str) -> dict[str, Any]:
    if not answer.startswith("Error"):
        return {"ok": True}
    return {"ok": False, "error": clean(answer[:_LONGEST_ERROR])}


def _get(holder: dict[str, Any], name: str, kind: type) -> Any:  # noqa: ANN401 - of that kind
    return _of_type(holder.get(name), kind, name)


def _of_type(value: object, kind: type, what: str) -> Any:  # noqa: ANN401 - of that kind
    if not isinstance(value, kind):
        message = f"{what} is not a {kind.__name__}"
        raise _WrongShape(message)
    return value
