"""Check that everything sent was recorded once, with correct statistics."""

from collections import Counter

from sqlalchemy import func, select

from benchmarks.workloads.workload import Planted
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.ledger.read import read_counts
from trackrecord.store.ledger.receipts import OUTCOME
from trackrecord.store.ledger.subjects import PATTERN
from trackrecord.store.ledger.tables import items, receipts
from trackrecord.store.outcomes.tables import outcomes, projects, waiting_episodes


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
            counted = Counter[str]()
            for (_, slug), cells in read_counts(connection, None, PATTERN, items.c.name).items():
                counted[slug] += sum(cells.values())
            noted = select(func.count()).where(receipts.c.kind == OUTCOME)
            found = {
                "outcomes": connection.scalar(select(func.count()).select_from(outcomes)),
                "outcomes counted": int(connection.scalar(select(func.sum(projects.c.outcomes)))),
                "successes": int(connection.scalar(select(func.sum(projects.c.successes)))),
                "episodes": connection.scalar(select(func.count()).select_from(waiting_episodes)),
                "receipts": connection.scalar(noted),
                "patterns": counted,
            }
    finally:
        engine.dispose()
    wanted = {
        "outcomes": planted.outcomes,
        "outcomes counted": planted.outcomes,
        "successes": planted.successes,
        "episodes": planted.episodes,
        "receipts": planted.outcomes,
        "patterns": planted.touches,
    }
    wrong = [
        f"{name}: {found[name]}, not {wanted[name]}"
        for name in wanted
        if found[name] != wanted[name]
    ]
    if wrong:
        raise Mismatch("; ".join(wrong))
