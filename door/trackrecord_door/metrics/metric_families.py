"""The figures of one scrape as Prometheus' families: every name, label and help text is here."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from trackrecord.learning.text.inert import visible
from trackrecord.redis.fleet_counts import Durations, FleetCounts
from trackrecord.resources.operation.flow import Flow
from trackrecord.resources.operation.metrics import FleetFigures, ProjectFigures

from .gathering import Figures, FleetScrape
from .routes import Answered


class FigureCollector(Collector):
    """Shows the figures of one scrape.

    Args:
        figures: what was gathered.
    """

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Yield all families; unknown values are left out."""
        figures = self._figures
        yield InfoMetricFamily(
            "trackrecord_build", "The version of trackrecord.", {"version": figures.version}
        )
        yield _gauges(
            "trackrecord_server_up",
            "Whether a server answered this scrape: 1 or 0.",
            "server",
            {name: float(is_up) for name, is_up in figures.up.items()},
        )
        yield from _of_projects(figures.projects)
        yield _gauges(
            "trackrecord_cache_age_seconds",
            "Age of the cached rankings that agents read.",
            "project",
            figures.ages_s,
        )
        if figures.whole is not None:
            yield from _of_whole(figures.whole)


def _of_projects(projects: list[ProjectFigures]) -> Iterator[Metric]:
    outcomes = GaugeMetricFamily(
        "trackrecord_outcomes",
        "Outcomes on record, by verdict. An amendment moves one to another verdict.",
        labels=("project", "verdict"),
    )
    for each in projects:
        outcomes.add_metric((_label(each.project), "success"), each.successes)
        outcomes.add_metric((_label(each.project), "failure"), each.failures)
        outcomes.add_metric((_label(each.project), "unknown"), each.without_verdict)
    yield outcomes
    yield _gauges(
        "trackrecord_last_consolidation_timestamp_seconds",
        "When the last finished consolidation ended, whoever started it.",
        "project",
        {
            each.project: each.last_consolidation
            for each in projects
            if each.last_consolidation is not None
        },
    )
    yield _gauges(
        "trackrecord_rebuild_due",
        "Whether numbers must be recomputed with `trackrecord rebuild`: 1 or 0.",
        "project",
        {each.project: float(each.is_rebuild_due) for each in projects},
    )


def _of_whole(whole: FleetScrape) -> Iterator[Metric]:
    if whole.fleet is not None:
        yield from _of_flow(whole.fleet.flow)
        yield from _of_counts(whole.fleet.counts)
        yield from _of_redis(whole.fleet)
    if whole.spooled is not None:
        yield GaugeMetricFamily(
            "trackrecord_spooled_entries",
            "Entries in the spool of the front door's home.",
            whole.spooled,
        )
    yield from _of_requests(whole.answered)
    yield _counters(
        "trackrecord_capture_dropped",
        "Entries that the front door captured and lost, by reason.",
        "reason",
        whole.dropped,
    )


def _of_flow(flow: Flow) -> Iterator[Metric]:
    for name, text, value in (
        ("waiting_entries", "Entries in the stream that no worker has read.", flow.waiting),
        ("pending_entries", "Entries that were read and are not learnt yet.", flow.pending),
        (
            "oldest_entry_age_seconds",
            "Age of the oldest entry in the stream; 0 when it is empty.",
            flow.oldest_waiting_s or 0.0,
        ),
        (
            "dead_letters",
            "Entries that could not be learnt and were neither replayed nor discarded.",
            flow.dead_letters,
        ),
        (
            "workers",
            "Worker processes that gave a sign of life within 20 seconds.",
            flow.workers,
        ),
    ):
        yield GaugeMetricFamily(f"trackrecord_{name}", text, value)


def _of_counts(counts: FleetCounts) -> Iterator[Metric]:
    yield _counters(
        "trackrecord_entries_learnt",
        "What became of the entries that workers learnt.",
        "result",
        counts.entries,
    )
    yield _counters(
        "trackrecord_entries_refused",
        "Entries that became dead letters, by reason.",
        "reason",
        counts.refused,
    )
    yield CounterMetricFamily(
        "trackrecord_entries_lost",
        "Entries that somebody took out of the stream before workers could.",
        counts.lost,
    )
    yield _durations(
        "trackrecord_batch_duration_seconds",
        "How long workers took to learn a batch.",
        {(): counts.batches},
    )
    yield _counters(
        "trackrecord_outages",
        "Outages of a server that workers noticed.",
        "server",
        counts.outages,
    )
    yield _counters(
        "trackrecord_consolidations",
        "Consolidations of all projects by workers, by how they ended.",
        "ending",
        counts.consolidations,
    )


def _of_redis(fleet: FleetFigures) -> Iterator[Metric]:
    if fleet.memory is None:
        return
    yield GaugeMetricFamily(
        "trackrecord_redis_memory_bytes", "Memory that Redis uses.", fleet.memory.used
    )
    yield GaugeMetricFamily(
        "trackrecord_redis_memory_max_bytes",
        "Memory that Redis may use at most; 0 without a limit.",
        fleet.memory.most,
    )


def _of_requests(answered: Answered) -> Iterator[Metric]:
    requests = CounterMetricFamily(
        "trackrecord_requests",
        "Requests that the front door answered, by surface and class of status.",
        labels=("surface", "status"),
    )
    for (surface, status), number in sorted(answered.by_status.items()):
        requests.add_metric((surface, status), number)
    yield requests
    yield _durations(
        "trackrecord_request_duration_seconds",
        "How long requests took until their answers began.",
        {(surface,): each for surface, each in answered.durations.items()},
        labels=("surface",),
    )


def _label(name: str) -> str:
    """Return a label without control characters; two names never have the same one."""
    return visible(name.replace("\\", "\\\\"))


def _labelled(
    kind: type[GaugeMetricFamily | CounterMetricFamily],
    name: str,
    text: str,
    label: str,
    values: Mapping[str, float],
) -> Metric:
    family = kind(name, text, labels=(label,))
    for key, value in values.items():
        family.add_metric((_label(key),), value)
    return family


_gauges = partial(_labelled, GaugeMetricFamily)
_counters = partial(_labelled, CounterMetricFamily)


def _durations(
    name: str,
    text: str,
    values: Mapping[tuple[str, ...], Durations],
    *,
    labels: Iterable[str] = (),
) -> Metric:
    family = HistogramMetricFamily(name, text, labels=tuple(labels))
    for key, durations in values.items():
        family.add_metric(key, _buckets(durations), sum_value=durations.total_s)
    return family


def _buckets(durations: Durations) -> list[tuple[str, float]]:
    """Return the buckets as Prometheus counts them: each includes those before it."""
    bounds = [*(str(bound) for bound in durations.bounds_s), "+Inf"]
    counted = 0
    buckets: list[tuple[str, float]] = []
    for bound, number in zip(bounds, durations.buckets, strict=True):
        counted += number
        buckets.append((bound, counted))
    return buckets
