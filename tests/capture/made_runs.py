"""Runs of an agent and their calls, as tests need them."""

from typing import Any

from trackrecord_capture.agent_run import AgentRun, RunCall

_USUAL: dict[str, Any] = {
    "agent": "claude-code", "session": "s", "prompt": "p", "captured_from": "transcript",
    "started_at": 1.0, "ended_at": 9.0, "folder": "/src/shop",
}  # fmt: skip


def run_of(*calls: RunCall, **given: Any) -> AgentRun:
    """Return a run with these calls."""
    return AgentRun(**(_USUAL | {"calls": calls} | given))


def shell(command: str, exit_code: int | None = 0, result: str = "", **given: Any) -> RunCall:
    """Return a call of a shell; it may not be known how it ended."""
    ok = None if exit_code is None else exit_code == 0
    fields: dict[str, Any] = {"ok": ok, "exit_code": exit_code, "result": result}
    return RunCall(tool="Bash", command=command, **(fields | given))


def edit(file: str = "/src/shop/cart.py", **given: Any) -> RunCall:
    """Return an edit of a file."""
    return RunCall(tool="Edit", edits=(file,), **({"ok": True} | given))
