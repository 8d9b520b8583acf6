"""A store with something in it, beside a Redis, in the home of a front door."""

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import redis
from sqlalchemy import Engine

from tests.store.teaching import learn_reports, note_states_of
from trackrecord.resources.access.project_store import ProjectStore, given_stores
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.advice.exposures import ReceivedExposure, record_exposures
from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.wire.exposure import ExposureBody
from trackrecord_consolidation.run import consolidate
from trackrecord_worker.caching.refresh import RankingsRefresher
from trackrecord_worker.up.embedded_redis import EmbeddedRedis


@dataclass
class FilledStore:
    """A store and ways to put more into it.

    Attributes:
        home: of the front door.
        settings: of its processes.
        engine: the store.
        client: its Redis.
    """

    home: Path
    settings: DaemonSettings
    engine: Engine
    client: redis.Redis

    def calls(self, project: str) -> AbstractContextManager[object]:
        """Within it, the calls of `trackrecord` ask this store."""
        return given_stores.within(ProjectStore(self.engine, self.settings, project))

    def teach(self, project: str, outcomes: Iterable[Mapping[str, Any]]) -> None:
        """Learn outcomes as a worker does; each is the body of the wire format."""
        now, rules = time.time(), self.settings.rules
        reports = [
            {"outcome_id": f"{project}-{number}", **fields, "project": project}
            for number, fields in enumerate(outcomes)
        ]
        learn_reports(
            self.engine, reports, rules, now=now,
            received=lambda _, fields: fields.get("timestamp") or now,
        )  # fmt: skip
        note_states_of(self.engine, project, now=now, rules=rules)

    def hand_out(self, project: str, given: Iterable[tuple[str, Sequence[str], bool]]) -> None:
        """Record exposures: the task's id, the entries, and whether they were withheld."""
        received = [
            ReceivedExposure(
                ExposureBody(
                    task_id=task, entries=tuple(entries), project=project, at=1.0,
                    withheld=withheld, holdout=0.5,
                ),
                f"{project}-e{number}", 1.0,
            )
            for number, (task, entries, withheld) in enumerate(given)
        ]  # fmt: skip
        with writing(self.engine) as connection:
            record_exposures(connection, ensure_projects(connection, {project}), received)

    def set_aside(self, reason: str, body: bytes) -> str:
        """Set an entry aside as a worker does; return its id."""
        fields: Any = {b"body": body, b"reason": reason.encode(), b"entry_id": b"1-1"}
        letter: Any = self.client.xadd(self.settings.keys.dead, fields)
        return str(letter.decode())

    def consolidate(self, project: str, actor: str = "a test") -> None:
        """Make competence records of what was learnt."""
        rules = self.settings.competence
        consolidate(self.engine, rules, project, now=time.time(), actor=actor)

    def refresh(self, project: str) -> None:
        """Compute what agents get from what was learnt, as a worker does."""
        RankingsRefresher(self.engine, self.client, self.settings).refresh(project)


Store = TypeVar("Store", bound=FilledStore)


@contextmanager
def opened_store(kind: type[Store], **settings: Any) -> Iterator[Store]:
    """Open an empty store in a home of its own, with a Redis."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        known = DaemonSettings(home=home, **settings)
        engine = connect_store(known.effective_database_url)
        migrate(engine)
        with (
            EmbeddedRedis(home / "redis", home / "redis.sock") as server,
            server.client() as client,
        ):
            yield kind(home, known, engine, client)
        engine.dispose()
