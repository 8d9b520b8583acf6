"""A process that forgets, and dies before a statement, a commit or a command of a given number."""

import os
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import redis
from sqlalchemy import event

from trackrecord.redis.client import EmbeddedCredentials
from trackrecord.redis.passwords import ADMIN_USER
from trackrecord.settings.settings import load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord.wire.subject import Subject
from trackrecord_capture.forgetting.forget import Forgetter


class CountedRedis(redis.Redis):
    """A client that says of each command that it is about to be sent."""

    step: Callable[[], None]

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Send a command."""
        self.step()
        return super().execute_command(*args, **options)


def forget_until(number: int, home: Path, url: str, what: str, project: str, name: str) -> None:
    """Forget, but survive fewer steps than `number`; nothing is cleaned up."""
    settings = load_settings(home=home, database_url=url, competence={"min_successes": 2})
    engine = connect_store(url)
    steps = count(1)

    def step(*_args: object) -> None:
        """Count a step; the last one is not survived."""
        if next(steps) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(engine, "before_cursor_execute", step)
    event.listen(engine, "commit", step)
    client = CountedRedis.from_url(
        settings.effective_redis_url,
        credential_provider=EmbeddedCredentials(settings.home / "redis", ADMIN_USER),
    )
    client.step = step
    subject = Subject(what, project, name)  # type: ignore[arg-type] # one of the three
    Forgetter(engine, client, settings, subject, warn=print).forget(actor="test")
