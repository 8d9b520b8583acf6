"""The start of the MCP server over stdin and stdout: its processor time until it lists tools."""

import json
import subprocess
import sys
from collections.abc import Sequence
from statistics import median
from typing import Any

import psutil

from benchmarks.harness.bytecode import environment_with_bytecode
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import REPOSITORY, bench_settings
from trackrecord.settings.settings import Settings

UNIT = "ms"
_START_FLOOR_MS = 600.0
_TIMEOUT_S = 60.0
_OURS = ("-m", "trackrecord_cli", "mcp")
_BARE = ("-m", "benchmarks.baselines.bare_mcp")
_HELLO: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


def measure(scale: Scale) -> Measured:
    """Start each server, initialise a session, ask for its tools, and end it."""
    with bench_settings() as settings:
        for command in (_OURS, _BARE):
            _start(settings, command)  # once, to compile
        ours, bare = (
            [_start(settings, command) for _ in range(scale.processes)]
            for command in (_OURS, _BARE)
        )
    cpu_ms, mib = (median(each) for each in zip(*ours, strict=True))
    bare_cpu_ms, bare_mib = (median(each) for each in zip(*bare, strict=True))
    return Measured(
        f"{scale.processes} processes of each kind, median; from the start of the process to the "
        "answered tools/list, over stdin and stdout",
        (
            Figure(
                "trackrecord mcp, processor time", cpu_ms, UNIT, at_most(_START_FLOOR_MS),
                (Baseline("the bare SDK with one tool", bare_cpu_ms),),
            ),
            Figure(
                "trackrecord mcp, memory", mib, "MiB", None,
                (Baseline("the bare SDK with one tool", bare_mib),),
            ),
        ),
    )  # fmt: skip


def _start(settings: Settings, command: Sequence[str]) -> tuple[float, float]:
    """Return the processor time and the memory of a server after it listed its tools."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=REPOSITORY,
        env=environment_with_bytecode(settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        _ask(process, 1, "initialize", _HELLO)
        _send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        _ask(process, 2, "tools/list", {})
        seen = psutil.Process(process.pid)
        times, memory = seen.cpu_times(), seen.memory_info().rss
        return (times.user + times.system) * 1000, memory / 1024**2
    finally:
        process.communicate(timeout=_TIMEOUT_S)


def _ask(process: subprocess.Popen[bytes], number: int, method: str, params: object) -> None:
    _send(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    answer = json.loads(process.stdout.readline())
    assert "result" in answer, answer  # noqa: S101 - a benchmark of failures measures nothing


def _send(process: subprocess.Popen[bytes], message: object) -> None:
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
