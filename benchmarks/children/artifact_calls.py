"""Summarise oversized outputs with trackrecord.summarise() in a fresh process; prints JSON.

`time COUNT`: how long each takes, by kind, and the bare work beside it. `memory FILE KIND`: the
growth of the process's peak memory while the output in a file is stored; the output counts, too.
"""

import json
import os
import re
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import trackrecord
from benchmarks.harness.timing import Latency
from benchmarks.workloads.outputs import KINDS, output_of

_MIB = 1024 * 1024
_STATUS = Path("/proc/self/status")


def main() -> None:
    """Run the measurement that the arguments name."""
    if sys.argv[1] == "time":
        print(json.dumps(_times(int(sys.argv[2]))))
    else:
        print(json.dumps(_memory(Path(sys.argv[2]), sys.argv[3])))


def _times(count: int) -> dict[str, dict[str, float]]:
    trackrecord.summarise("x" * 20_000)
    took = {kind: _time(kind, _summarise, count) for kind in KINDS}
    return took | {"bare": _time("binary", _bare, count)}


def _time(kind: str, call: Callable[[str | bytes], None], count: int) -> dict[str, float]:
    nanoseconds = []
    for number in range(count):
        output = output_of(kind, _MIB, number)
        before = time.perf_counter_ns()
        call(output)
        nanoseconds.append(time.perf_counter_ns() - before)
    return Latency.of(nanoseconds, 1).as_dict()


def _summarise(output: str | bytes) -> None:
    if len(trackrecord.summarise(output)) > 500:
        message = "the output was not stored"
        raise RuntimeError(message)


def _bare(output: str | bytes) -> None:
    """Do the indispensable work: the digest, a write, and an fsync."""
    assert isinstance(output, bytes)  # noqa: S101 - the kind says so
    name = sha256(output).hexdigest()
    fd = os.open(Path(os.environ["TRACKRECORD_HOME"]) / name, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(fd, output)
    os.fsync(fd)
    os.close(fd)


def _memory(file: Path, kind: str) -> dict[str, int]:
    # All imports and settings first: they are not part of storing an output.
    _summarise(output_of(kind, 20_000, 1))
    before = _field("VmRSS")
    output: str | bytes = file.read_bytes() if kind == "binary" else file.read_text()
    # Reading a text takes more for a moment than the text itself.
    _reset_peak()
    alone = _field("VmRSS") - before
    _summarise(output)
    return {"alone": alone, "storing": _field("VmHWM") - before}


def _reset_peak() -> None:
    """Reset the kernel's record of peak memory."""
    Path("/proc/self/clear_refs").write_text("5")


def _field(name: str) -> int:
    """Return a size of this process, in bytes."""
    found = re.search(rf"^{name}:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    if found is None:
        message = f"the kernel does not report {name}"
        raise RuntimeError(message)
    return int(found[1]) * 1024


if __name__ == "__main__":
    main()
