"""Oversized outputs: the time and the memory that storing and summarising one takes."""

from benchmarks.harness.asking import ask
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings
from benchmarks.harness.timing import Latency
from benchmarks.workloads.outputs import KINDS, output_of
from trackrecord.settings.settings import Settings

UNIT = "ms"
_FLOOR_MS = 20.0
_FLOOR_SIZES = 3.0
_LARGE = 10 * 1024 * 1024
# Each writes a megabyte and waits for the disk.
_CALLS_PER_SLOW_CALL = 0.1


def measure(scale: Scale) -> Measured:
    """Store different outputs of 1 MiB, and one of 10 MiB, in fresh processes."""
    count = max(10, int(scale.slow_calls * _CALLS_PER_SLOW_CALL))
    with bench_settings() as settings:
        answers = ask(settings, "artifact_calls", "time", str(count))
        took = {kind: Latency(**latency) for kind, latency in answers.items()}
        bare = took.pop("bare")
        sizes = {kind: _memory(settings, kind) for kind in KINDS}
    figures = []
    for kind, latency in took.items():
        figures += [
            Figure(
                f"1 MiB of {kind}, p50", latency.p50 / 1000, UNIT, at_most(_FLOOR_MS),
                (Baseline("SHA-256, write and fsync of 1 MiB, p50", bare.p50 / 1000),),
            ),
            Figure(
                f"1 MiB of {kind}, p99", latency.p99 / 1000, UNIT, None,
                (Baseline("SHA-256, write and fsync of 1 MiB, p99", bare.p99 / 1000),),
            ),
        ]  # fmt: skip
    figures += [
        Figure(
            f"memory while storing 10 MiB of {kind}", grown["storing"] / _LARGE, "× its size",
            at_most(_FLOOR_SIZES), (Baseline("the output alone", grown["alone"] / _LARGE),),
        )
        for kind, grown in sizes.items()
    ]  # fmt: skip
    return Measured(
        f"summarise(), {count} different outputs of 1 MiB of each kind, stored with fsync; memory "
        "is the growth of the peak RSS, the output itself included",
        tuple(figures),
    )


def _memory(settings: Settings, kind: str) -> dict[str, float]:
    file = settings.home / f"output-{kind}"
    output = output_of(kind, _LARGE, 1)
    file.write_bytes(output if isinstance(output, bytes) else output.encode())
    return ask(settings, "artifact_calls", "memory", str(file), kind)
