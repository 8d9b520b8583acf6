"""Recorded runs of τ-bench: an agent, its tools and a simulated customer.

A run is `{task_id, reward, info, traj, trial}`; `traj` is the chat. A reward of 1.0 is a success,
found by the benchmark's evaluator. An answer of a tool that starts with "Error" is a tool error. A
run that crashed holds `info: {error, traceback}` and no chat: it is a failure with that error. The
file is named after the agent: its name is the outcome's source. There are no times.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from trackrecord.inflight.classification import classify_failure
from trackrecord_producers.importers.jsonl import Imported, stable_id

from .recommendations import Gold

SOURCE: Final = "tau-bench"
_LONGEST_ERROR: Final = 1000
# All other tools of its domains look something up, reckon, or hand the customer over.
_CHANGING: Final = ("book_", "cancel_", "exchange_", "modify_", "return_", "send_", "update_")


def read_tau_bench(path: Path) -> Iterator[Imported]:
    """Yield the outcomes of a file of recorded runs, one by one."""
    for number, run in enumerate(json.loads(path.read_bytes()), start=1):
        canonical = json.dumps(run, sort_keys=True, separators=(",", ":")).encode()
        yield Imported(
            f"record {number}",
            {
                "outcome_id": stable_id(SOURCE, canonical),
                "task_id": _task(run),
                "outcome_source": "evaluator",
                "source": path.stem,
                **(_finished(run) if "task" in run["info"] else _crashed(run["info"]["error"])),
            },
        )


def read_answers(path: Path) -> Gold:
    """Return the tools of each task's right answer, and all that change something."""
    answers: dict[str, frozenset[str]] = {}
    called: set[str] = set()
    for run in json.loads(path.read_bytes()):
        called |= {call["function"]["name"] for call in _calls(run)}
        if "task" in run["info"]:
            actions = run["info"]["task"].get("actions") or ()
            answers[_task(run)] = _changing({action["name"] for action in actions})
    return Gold(answers, _changing(called).union(*answers.values()))


def _changing(names: set[str]) -> frozenset[str]:
    return frozenset(name for name in names if name.startswith(_CHANGING))


def _task(run: dict[str, Any]) -> str:
    """Return the task's name; each of the benchmark's domains uses the same numbers."""
    if "task" not in run["info"]:
        return f"{SOURCE}/{run['task_id']}"
    digest = hashlib.sha256(run["info"]["task"]["instruction"].encode()).hexdigest()
    return f"{SOURCE}/{run['task_id']}-{digest[:8]}"


def _crashed(error: str) -> dict[str, Any]:
    return {
        "success": False,
        "failure_mode": classify_failure(error),
        "error_count": 1,
        "failure_details": error[:_LONGEST_ERROR],
        "tool_graph": [],
    }


def _finished(run: dict[str, Any]) -> dict[str, Any]:
    # The recordings use some ids of calls again.
    answers: dict[str, list[str]] = {}
    for message in run["traj"]:
        if message["role"] == "tool":
            answers.setdefault(message["tool_call_id"], []).append(message["content"])
    tool_graph = []
    for call in _calls(run):
        made = {"tool": call["function"]["name"], "args": _arguments(call), "id": call["id"]}
        waiting = answers.get(call["id"])
        tool_graph.append(made | (_result(waiting.pop(0)) if waiting else {}))
    return {
        "success": run["reward"] == 1,
        "instruction": run["info"]["task"]["instruction"],
        "error_count": sum(call.get("ok") is False for call in tool_graph),
        "tool_graph": tool_graph,
    }


def _calls(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [call for message in run["traj"] or () for call in message.get("tool_calls") or ()]


def _arguments(call: dict[str, Any]) -> object:
    try:
        return json.loads(call["function"]["arguments"])
    except ValueError:
        return call["function"]["arguments"]


def _result(answer: str) -> dict[str, Any]:
    if not answer.startswith("Error"):
        return {"ok": True}
    return {"ok": False, "error": answer[:_LONGEST_ERROR]}
