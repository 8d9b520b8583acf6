"""Check that everything sent was recorded once, with correct statistics."""

from collections import Counter

from sqlalchemy import func, select

from benchmarks.workloads.workload import Planted
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.outcomes.tables import outcomes, projects, waiting_episodes
from trackrecord.store.patterns.tables import observations, patterns


class Mismatch(Exception):
    """Raised when the recorded sums are not those sent, which makes the figure meaningless."""


def check_recorded(settings: Settings, planted: Planted) -> None:
    """Compare every sum in the store with the planted one.

    Raises:
        Mismatch: they differ.
    """
    engine = connect_store(settings.effective_database_url)
    try:
        with reading(engine) as connection:
            counted = func.sum(patterns.c.helpful + patterns.c.neutral + patterns.c.harmful)
            by_slug = select(patterns.c.slug, counted).group_by(patterns.c.slug)
            found = {
                "outcomes": connection.scalar(select(func.count()).select_from(outcomes)),
                "outcomes counted": int(connection.scalar(select(func.sum(projects.c.outcomes)))),
                "successes": int(connection.scalar(select(func.sum(projects.c.successes)))),
                "episodes": connection.scalar(select(func.count()).select_from(waiting_episodes)),
                "observations": connection.scalar(select(func.count()).select_from(observations)),
                "patterns": Counter(
                    {slug: int(sum_) for slug, sum_ in connection.execute(by_slug)}
                ),
            }
    finally:
        engine.dispose()
    wanted = {
        "outcomes": planted.outcomes,
        "outcomes counted": planted.outcomes,
        "successes": planted.successes,
        "episodes": planted.episodes,
        "observations": planted.touches.total(),
        "patterns": planted.touches,
    }
    wrong = [
        f"{name}: {found[name]}, not {wanted[name]}"
        for name in wanted
        if found[name] != wanted[name]
    ]
    if wrong:
        raise Mismatch("; ".join(wrong))
