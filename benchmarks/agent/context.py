"""Ranking and selecting candidates, and the whole call while a prompt is written."""

from collections.abc import Iterator

from benchmarks.harness.asking import ask
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, running_redis
from benchmarks.harness.timing import Latency
from trackrecord.prompt.reading.cache import read_document
from trackrecord.prompt.reading.client import RankingsReader

from .rankings import PROJECT, learn_all

UNIT = "ms"
_RANK_FLOOR_MS = 2.0
_CALL_FLOOR_MS = 5.0
_CANDIDATES = 500
_TASK = "The login page rejects valid sessions after midnight; find out why and fix it"


def measure(scale: Scale) -> Measured:
    """Rank, select and ask in a fresh process, as an agent does."""
    with bench_settings() as settings, running_redis(settings) as client:
        learn_all(settings, client)
        found = RankingsReader(settings).read(project=PROJECT, budget=None)
        if found.problem or not found.patterns:
            message = f"there are no rankings: {found.problem}"
            raise RuntimeError(message)
        _, document = read_document(client, settings, PROJECT)
        answers = ask(settings, "context_calls", str(scale.reads), PROJECT, _TASK, str(_CANDIDATES))
    took = {kind: Latency(**latency) for kind, latency in answers.items()}
    return Measured(
        f"{_CANDIDATES} candidates of an agent's own as mappings, checked, ranked and selected for "
        f"4,000 tokens; the whole call with {len(found.patterns):,} patterns and more learnt "
        f"({len(document or b'') / 1024:.0f} KiB in the cache) and 100 candidates; "
        f"{scale.reads:,} calls of each kind",
        tuple(_figures(took)),
    )


def _figures(took: dict[str, Latency]) -> Iterator[Figure]:
    for name in ("p99", "p50"):
        ms = {kind: getattr(latency, name) / 1000 for kind, latency in took.items()}
        yield Figure(
            f"rank and select {_CANDIDATES}, {name}", ms["rank and select"], UNIT,
            at_most(_RANK_FLOOR_MS),
            (
                Baseline(f"json.loads of the same, {name}", ms["json"]),
                Baseline(f"sorted() of the same, scored, {name}", ms["sorted"]),
            ),
        )  # fmt: skip
        yield Figure(
            f"context(), {name}", ms["context"], UNIT, at_most(_CALL_FLOOR_MS),
            (
                Baseline(f"bare HMGET of all bytes, {name}", ms["bare"]),
                Baseline(f"rankings() for the same task, {name}", ms["rankings"]),
            ),
        )  # fmt: skip
    yield Figure(
        "context() with a tokenizer that counts words, p50", took["words"].p50 / 1000, UNIT
    )
