"""Run benchmarks, and print each figure next to its baseline."""

import argparse
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import FrameType

from trackrecord.process.logs import configure_logs

from .harness.figures import Measured
from .harness.machine import machine_facts
from .harness.printing import document, lines_of, summary
from .harness.scale import FULL, QUICK, Scale

# In the order in which they run, with the room of each: a module with a function `measure`.
BENCHMARKS = {
    "end_to_end": "worker",
    "postgresql_workers": "worker",
    "scaling": "worker",
    "publish": "agent",
    "rankings": "agent",
    "context": "agent",
    "freshness": "agent",
    "consolidation": "worker",
    "scoring": "worker",
    "selection": "worker",
    "long_past": "worker",
    "memories": "worker",
    "lessons": "worker",
    "estimates": "worker",
    "artifacts": "agent",
    "importing": "agent",
    "transferring": "worker",
    "benchmark_rates": "worker",
    "first_publish": "agent",
    "startup": "agent",
    "mcp_start": "agent",
    "hook": "agent",
    "injection": "agent",
    "hints": "agent",
    "worker_rss": "worker",
    "idle": "worker",
    "traces": "door",
    "front_door": "door",
    "http_reads": "door",
    "runs": "door",
    "page": "door",
    "metrics": "door",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks named on the command line; return 1 if one could not be measured.

    A figure that misses its floor is reported but not a failure: machines differ, and so do hours.
    """
    parser = _parser()
    chosen = parser.parse_args(arguments)
    for name in chosen.names:
        if name not in BENCHMARKS:
            parser.error(f"unknown benchmark {name!r}: choose from {', '.join(BENCHMARKS)}")
    scale = QUICK if chosen.quick else FULL
    configure_logs("warning")
    signal.signal(signal.SIGTERM, _interrupt)
    facts = machine_facts()
    for name, value in facts.items():
        print(f"{name}: {value}")
    names = chosen.names or list(BENCHMARKS)
    figures = _run(names, scale)
    failed = [name for name in names if name not in figures]
    print("\n" + "; ".join([summary(figures), *(f"{name} FAILED" for name in failed)]))
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(document(facts, figures), indent=2) + "\n")
    print(f"written to {chosen.json}")
    return int(bool(failed))


def _run(names: Sequence[str], scale: Scale) -> dict[str, Measured]:
    figures: dict[str, Measured] = {}
    for name in names:
        started = time.perf_counter()
        try:
            measured = import_module(f".{BENCHMARKS[name]}.{name}", __package__).measure(scale)
        except Exception:  # noqa: BLE001 - the other figures are still worth having
            print(f"\n{name}: FAILED\n{traceback.format_exc()}", flush=True)
            continue
        figures[name] = measured
        print("\n" + "\n".join(lines_of(name, measured)))
        took, load = time.perf_counter() - started, os.getloadavg()[0]
        print(f"  ({took:.0f} s, load average {load:.1f})", flush=True)
    return figures


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    parser.add_argument(
        "--json",
        type=Path,
        default=Path("build/benchmarks.json"),
        metavar="FILE",
        help="where to write the figures (default: %(default)s)",
    )
    return parser


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Stop the servers on SIGTERM, as Ctrl-C does."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
