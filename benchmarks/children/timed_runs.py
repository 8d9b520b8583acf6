"""Runs of small programs, each timed and weighed by a parent that is small itself; prints JSON.

The kernel counts what a process had before it became another program, too, so the parent of what
is weighed must not be large: this one is started with `python -I -S`, imports nothing of ours, and
reads what to do as JSON: programs by name, the input of each with `@` for the number of the run,
and how often.
"""

import json
import os
import sys
import time


def main() -> None:
    """Run each program in turn, so that all see the same machine."""
    task = json.load(sys.stdin)
    took: dict[str, list[list[float]]] = {name: [] for name in task["programs"]}
    for number in range(task["count"]):
        for name, (command, text) in task["programs"].items():
            took[name].append(_run(command, text.replace("@", str(number)).encode()))
    print(json.dumps(took))


def _run(command: list[str], text: bytes) -> list[float]:
    """Return processor time and wall-clock time in milliseconds, and memory in MB."""
    for_reading, for_writing = os.pipe()
    nothing = os.open(os.devnull, os.O_WRONLY)
    started = time.perf_counter()
    process = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, for_reading, 0),
            (os.POSIX_SPAWN_DUP2, nothing, 1),
            (os.POSIX_SPAWN_CLOSE, for_writing),
        ],
    )
    os.close(for_reading)
    os.write(for_writing, text)
    os.close(for_writing)
    _, status, usage = os.wait4(process, 0)
    took = (time.perf_counter() - started) * 1000
    os.close(nothing)
    if status:
        message = f"{command} ended with {status}"
        raise RuntimeError(message)
    return [(usage.ru_utime + usage.ru_stime) * 1000, took, usage.ru_maxrss / 1024]


if __name__ == "__main__":
    main()
