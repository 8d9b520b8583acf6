"""The startup cost of a command: its processor time before it does anything."""

import resource
import subprocess
import sys
from collections.abc import Sequence
from statistics import median

from benchmarks.harness.bytecode import environment_with_bytecode
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings
from trackrecord.settings.settings import Settings

UNIT = "ms"
_HELP_FLOOR_MS = 150.0
_READING_FLOOR_MS = 300.0
_TIMEOUT_S = 60.0

# Makes the tables, and a project that can be asked about.
_PREPARING = ("-m", "trackrecord_cli", "memories", "add", "The tests need a database")
_BARE = ("-c", "pass")
_HELP = ("-m", "trackrecord_cli", "--help")
_READING = ("-m", "trackrecord_cli", "projects")
_PATTERNS = ("-m", "trackrecord_cli", "patterns", "list")


def measure(scale: Scale) -> Measured:
    """Take the processor time of whole processes, the bare interpreter's subtracted."""
    with bench_settings() as settings:
        for arguments in (_PREPARING, _HELP, _READING, _PATTERNS):
            _cpu_ms(settings, arguments)  # once, to compile
        bare, shown, listed, patterns = (
            median(_cpu_ms(settings, arguments) for _ in range(scale.processes))
            for arguments in (_BARE, _HELP, _READING, _PATTERNS)
        )
    baseline = (Baseline("python -c pass", bare),)
    return Measured(
        f"{scale.processes} processes of each kind, SQLite, one memory on record: processor time "
        "beyond that of a bare interpreter, median",
        (
            Figure("trackrecord --help", shown - bare, UNIT, at_most(_HELP_FLOOR_MS), baseline),
            Figure(
                "trackrecord projects", listed - bare, UNIT, at_most(_READING_FLOOR_MS), baseline
            ),
            Figure(
                "trackrecord patterns list", patterns - bare, UNIT, at_most(_READING_FLOOR_MS),
                baseline,
            ),
        ),
    )  # fmt: skip


def _cpu_ms(settings: Settings, arguments: Sequence[str]) -> float:
    """Return the user and system time of one process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        env=environment_with_bytecode(settings),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_TIMEOUT_S,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
