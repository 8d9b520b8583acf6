"""Test doubles for agents: capture their reports, and give them rankings.

    from trackrecord.testing import captured, rankings_of

    def test_the_agent_reports_what_it_did():
        with captured() as published, rankings_of(memories=["The login test needs port 5432"]):
            my_agent.run("t")
        assert published.outcomes[0].task_id == "t"

Neither starts a thread or needs Redis, a home folder or settings. `store_of` gives a store to the
calls that read and change it, such as `trackrecord.recall`; it needs the extra
`trackrecord[worker]`.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from trackrecord.calls.fake_store import store_of
from trackrecord.prompt.reading.fake_rankings import rankings_of
from trackrecord.resources.project_store import NoStore, given_stores
from trackrecord_producers.capture import Captured
from trackrecord_producers.delivery.diversion import diversions

__all__ = ["Captured", "captured", "rankings_of", "store_of"]


@contextmanager
def captured() -> Iterator[Captured]:
    """Capture all that is reported in the block: outcomes, memories, and errors of tasks.

    Reports are checked as on their way to Redis, and go no further.
    `error_context()` and `error_stats()` read the captured reports. Blocks nest, and the innermost
    captures; tasks of an event loop have their own. Threads that the agent starts report to the
    block that was opened last.

    Calls that read or change the store raise StoreUnavailable unless `store_of()` gives them one:
    no test changes the store of the person who runs it.
    """
    published = Captured()
    no_store = nullcontext() if given_stores.get() else given_stores.within(NoStore())
    with diversions.within(published), no_store:
        yield published
