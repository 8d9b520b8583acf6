"""What `status` shows to people: a line for each number, and the verdict last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .drawing import bar, sparkline

if TYPE_CHECKING:
    from trackrecord.queries.flow_rates import FlowRates
    from trackrecord.queries.status import StatusReport


class Line(NamedTuple):
    """One line: what is counted, the count, and its history or share."""

    name: str
    value: str
    drawn: str = ""


def places(status: StatusReport) -> list[Line]:
    """Return where everything is kept."""
    return [
        Line("version", status.version),
        Line("home", status.home),
        Line("Redis", status.redis),
        Line("database", status.database),
    ]


def flow(status: StatusReport, rates: Sequence[FlowRates] = ()) -> list[Line]:
    """Return how outcomes flow.

    Args:
        status: the newest reading.
        rates: those between the readings, the oldest first.
    """
    age = "none" if status.oldest_waiting_s is None else _age(status.oldest_waiting_s)
    return [
        Line("workers", str(status.workers)),
        Line(
            "waiting in the stream",
            f"{status.waiting:,}",
            _rate([r.arriving for r in rates], "arriving"),
        ),
        Line("being learnt", f"{status.pending:,}", _rate([r.learnt for r in rates], "learnt")),
        Line("oldest of them", age),
        Line("in the spool", f"{status.spooled:,}"),
        Line("dead letters", f"{status.dead_letters:,}"),
    ]


def learnt(status: StatusReport) -> list[Line]:
    """Return what has been learnt."""
    from trackrecord.times import iso

    judged = status.outcomes - status.without_verdict
    share = status.successes / judged if judged else None
    cached = "never computed" if status.cache_age_s is None else f"{_age(status.cache_age_s)} old"
    return [
        Line("outcomes", f"{status.outcomes:,}"),
        Line("successful", f"{status.successes:,}", _share(share)),
        Line("without a verdict", f"{status.without_verdict:,}"),
        Line("patterns", f"{status.patterns:,}"),
        Line("anti-patterns", f"{status.anti_patterns:,}"),
        Line("procedures", f"{status.signatures:,}"),
        Line("competence records", f"{status.competences:,}"),
        Line("memories", f"{status.memories:,}"),
        Line("episodes to consolidate", f"{status.waiting_episodes:,}"),
        Line("projects to rebuild", ", ".join(status.rebuild_due) or "none"),
        Line("last learnt", iso(status.last_learnt) or "never"),
        Line("last consolidation", iso(status.last_consolidation) or "never"),
        Line("rankings", cached),
    ]


def _rate(rates: Sequence[float], what: str) -> str:
    return f"{rates[-1]:>9,.1f}/s {what:<8} {sparkline(rates)}" if rates else ""


def _share(share: float | None) -> str:
    return "" if share is None else f"{bar(share)} {share:.0%} of those with a verdict"


def _age(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes:.0f} min" if minutes >= 2 else f"{minutes * 60 + rest:.1f} s"
