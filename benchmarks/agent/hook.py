"""Measure one event of a coding agent: processor time and memory of the hook's program."""

import json
import sys
from statistics import median

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings
from benchmarks.harness.small_programs import Program, timed_runs
from trackrecord_capture.agents.door_address import DoorAddress, write_door
from trackrecord_capture.agents.runtime import hook_command, write_runtime
from trackrecord_door.protocol.listening import listen_in_home

_CPU_FLOOR_MS = 25.0
_RSS_FLOOR_MB = 15.0
# The hook takes no more notes when very many wait.
_MOST_RUNS = 500
_BARE = "python -I -S -c pass"
_EVENTS = {
    "the end of a turn is noted": "Stop",
    "a session starts, nobody answers": "SessionStart",
    "a prompt, nobody answers": "UserPromptSubmit",
}
# Where oversized outputs are replaced, the hook runs after each call of a tool.
_OUTPUTS = {
    "a tool has ended, its output is small": 500,
    "a tool has ended, its output is oversized, nobody answers": 30_000,
}


def measure(scale: Scale) -> Measured:
    """Start the hook as agents do, by a shell, with the front door closed."""
    with bench_settings() as settings:
        write_runtime(settings.home)
        # As after a crash: the hook learns only by asking that nobody is there.
        listen_in_home(settings.home).close()
        write_door(settings.home, DoorAddress("127.0.0.1", 1), 10_000)
        command = ["/bin/sh", "-c", hook_command(settings.home, "claude-code")]
        programs = {name: Program(command, event_text(event)) for name, event in _EVENTS.items()}
        for name, characters in _OUTPUTS.items():
            programs[name] = Program(command, output_text(characters))
        programs[_BARE] = Program([sys.executable, "-I", "-S", "-c", "pass"])
        runs = timed_runs(settings, programs, min(scale.slow_calls // 5, _MOST_RUNS))
    bare = runs.pop(_BARE)
    cpu = (Baseline(_BARE, median(each.cpu_ms for each in bare)),)
    rss = (Baseline(_BARE, max(each.rss_mb for each in bare)),)
    figures = []
    for name, each in runs.items():
        took = median(one.cpu_ms for one in each)
        figures.append(Figure(f"{name}, processor time", took, "ms", at_most(_CPU_FLOOR_MS), cpu))
    most = max(one.rss_mb for each in runs.values() for one in each)
    figures.append(Figure("memory, at most", most, "MB", at_most(_RSS_FLOOR_MB), rss))
    return Measured(
        f"{len(bare)} runs of each kind, the shell that starts it included, median", tuple(figures)
    )


def event_text(event: str, *, folder: str = "/src/shop", prompt: str = "Fix the tests") -> str:
    """Return a hook's input from an agent; `@` is replaced by the number of the session."""
    return json.dumps(
        {
            "session_id": "session-@",
            "transcript_path": "/home/u/.claude/projects/-src-shop/session-@.jsonl",
            "cwd": folder,
            "prompt_id": "1fdf0000-0000-4000-8000-000000000000",
            "permission_mode": "default",
            "hook_event_name": event,
            "prompt": prompt,
            "last_assistant_message": "All tests pass now. " * 50,
        }
    )


def output_text(characters: int) -> str:
    """Return a hook's input after a command that printed so many characters."""
    return json.dumps(
        {
            "session_id": "session-@",
            "cwd": "/src/shop",
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "make test"},
            "tool_response": {"stdout": "x" * characters, "stderr": "", "interrupted": False},
        }
    )
