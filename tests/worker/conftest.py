"""A worker's stages within the test's own process, on both databases."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Engine

from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord_worker.app import create_app
from trackrecord_worker.services import Services
from trackrecord_worker.up.embedded_redis import EmbeddedRedis


@pytest.fixture
def store_settings(settings: Settings, store_url: str, redis_server: EmbeddedRedis) -> Settings:
    """Settings with a real Redis and, once each, both databases; nothing waits long."""
    return load_settings(
        home=settings.home,
        database_url=store_url,
        database_timeout_s=1.0,
        drain_block_s=0.01,
        claim_idle_s=0.05,
        refresh_every_s=0.05,
        max_body_bytes=4096,
    )


@pytest.fixture
def engine(store_settings: Settings) -> Iterator[Engine]:
    """The test's own look into the store."""
    engine = connect_store(store_settings.effective_database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def worker_of() -> Iterator[Callable[[Settings], Services]]:
    """Makes workers, as far as one process has them; closed after the test."""
    made: list[Services] = []

    def make(settings: Settings) -> Services:
        stages = Services(settings, create_app(settings))
        made.append(stages)
        return stages

    yield make
    for stages in made:
        stages.redis.close()
        if stages._parts._engine is not None:
            stages._parts._engine.dispose()


@pytest.fixture
def worker(worker_of: Callable[[Settings], Services], store_settings: Settings) -> Services:
    """A worker in this process."""
    return worker_of(store_settings)
