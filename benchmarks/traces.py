"""Spans that are posted by OTLP/HTTP: taken, kept on disk, and turned into outcomes."""

import json
import subprocess
import sys
import tempfile

from .figures import Baseline, Figure, Floor, Measured, at_most
from .scale import Scale

UNIT = "spans/s"
_FEWEST = 5_000.0
_MOST_MIB = 200.0
_TIMEOUT_S = 600.0


def measure(scale: Scale) -> Measured:
    """Take spans in a process of its own, by its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks.children.trace_intake",
                str(scale.publish_calls),
                folder,
            ],
            check=True,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
        )
    told = json.loads(done.stdout)
    return Measured(
        f"{told['spans']:,} spans in traces of ten, from protobuf bodies to redacted outcomes with "
        "their verdicts, by processor time of one process",
        (
            Figure(
                "taken and turned into outcomes",
                told["taken_per_s"],
                UNIT,
                Floor(_FEWEST, is_minimum=True),
                (Baseline("decoded alone", told["decoded_per_s"]),),
            ),
            Figure("runs that did not become an outcome", told["lost"], "runs", at_most(0)),
            Figure("memory of the process", told["whole_mib"], "MiB", at_most(_MOST_MIB)),
        ),
    )
