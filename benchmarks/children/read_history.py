"""Reads sessions in a process of its own, pinned to one core: `read_history AGENT FOLDER`."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from trackrecord_capture.history.reading import LogReading, read_and_publish
from trackrecord_capture.history.state import CaptureState
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.register import known_sources
from trackrecord_producers.bodies.body import build_wire_body

from .peak import peak_mib


class _Discarding:
    """A sink that does everything but send."""

    runs = 0

    def publish(self, fields: dict[str, Any]) -> None:
        """Write the outcome as it would be sent."""
        build_wire_body(fields)
        self.runs += 1

    def settle(self) -> int:
        """Return at once: nothing is on its way."""
        return 0


def main() -> None:
    """Print how long reading took, of the processor's time, and how much memory it needed."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    source, sink = known_sources()[name], _Discarding()
    with tempfile.TemporaryDirectory() as home, CaptureState(Path(home)) as state:
        began = time.process_time()
        for log in source.logs([folder]):
            read_and_publish(source, log, state, sink, LogReading(outcome_of=outcome_of))
        reading_s = time.process_time() - began
    peak = peak_mib()
    began = time.process_time()
    for path in folder.rglob("*.jsonl"):
        with path.open("rb") as file:
            for line in file:
                msgspec.json.decode(line)
    decoding_s = time.process_time() - began
    told = {"reading_s": reading_s, "decoding_s": decoding_s, "peak_mib": peak}
    print(json.dumps(told | {"runs": sink.runs}))


if __name__ == "__main__":
    main()
