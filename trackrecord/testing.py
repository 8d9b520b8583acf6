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

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.prompt.reading.fake_rankings import rankings_of
from trackrecord.resources.access.project_store import NoStore, ProjectStore, given_stores, imported
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord_producers.capture import Captured
from trackrecord_producers.delivery.diversion import diversions

if TYPE_CHECKING:
    from sqlalchemy import Engine


# A busy machine must not look like a store that is locked.
_PATIENCE_S: Final = 30.0


@contextmanager
def store_of(
    *,
    memories: Iterable[str] = (),
    outcomes: Iterable[Mapping[str, Any]] = (),
    project: str = DEFAULT_PROJECT,
) -> Iterator[None]:
    """Let the calls that read or change the store use a store of their own in the block.

    It is a database in a temporary folder, removed at the end, and everything is done as in a real
    one: what `confirm_memory()` changes, `recall()` finds changed. The settings are the defaults.
    The memories have the ids `memory-1`, `memory-2` and so on. Patterns, criteria, runs and past
    tasks are learnt from the outcomes; competence records, which a nightly job makes, are not.

    Args:
        memories: texts of memories, the oldest first.
        outcomes: fields of outcomes, as `publish()` takes them.
        project: the project that both belong to.

    Raises:
        ExtraMissing: SQLAlchemy is not installed.
        InvalidOutcome: one of the outcomes is not one.
        InvalidMemory: one of the texts cannot be a memory.
    """
    with TemporaryDirectory(prefix="trackrecord-test-") as folder:
        with imported():
            store = _new_store(Path(folder), project)
        _learn(store.engine, store.settings, outcomes)
        _remember(store.engine, store.settings, memories)
        with given_stores.within(store):
            yield


def _new_store(folder: Path, project: str) -> ProjectStore:
    from trackrecord.store.database.migrate import open_store

    # Built without reading the environment: a test must not depend on it.
    settings = DaemonSettings(home=folder, project=project)
    engine = open_store(
        settings.effective_database_url, timeout_s=_PATIENCE_S, keeps_connections=False
    )
    return ProjectStore(engine, settings, project)


def _learn(engine: Engine, settings: DaemonSettings, outcomes: Iterable[Mapping[str, Any]]) -> None:
    from trackrecord.store.database.engine import writing
    from trackrecord.store.intake.intake import ensure_projects, learn
    from trackrecord.store.memories.past_tasks import index_past_tasks
    from trackrecord.wire.outcome_scorer import scorer_of

    scorer, now = scorer_of(settings.rules), time.time()
    scored = []
    for number, fields in enumerate(outcomes, start=1):
        body = encode_body(
            {"outcome_id": f"outcome-{number}", "project": settings.project, **fields}
        )
        scored.append(scorer.score(decode_outcome(body), body, received_at=now, outcome_id=""))
    with writing(engine) as connection:
        ensure_projects(connection, [settings.project])
        learn(connection, scored, settings.rules, now=now)
    index_past_tasks(engine)


def _remember(engine: Engine, settings: DaemonSettings, texts: Iterable[str]) -> None:
    from trackrecord.store.database.engine import writing
    from trackrecord.store.intake.intake import ensure_projects
    from trackrecord.store.memories.write import remember

    with writing(engine) as connection:
        row = ensure_projects(connection, [settings.project])[settings.project]
        for number, text in enumerate(texts, start=1):
            remember(
                connection,
                row,
                text,
                memory_id=f"memory-{number}",
                rules=settings.memories,
                now=time.time(),
                force=True,
            )


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
