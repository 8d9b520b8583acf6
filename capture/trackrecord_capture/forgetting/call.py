"""`trackrecord.forget()` and `aforget()`: the same as `trackrecord forget`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trackrecord.errors import InvalidRequest
from trackrecord.process.async_calls import awaited
from trackrecord.resources.access.project_store import open_project
from trackrecord.resources.declaration.checks import decided_by, optional_text_of
from trackrecord.wire.subject import MAX_NAME, Subject

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from trackrecord.settings.daemon_settings import DaemonSettings

    from .forget import Forgetter, Forgetting


def forget(
    *,
    source: str | None = None,
    task: str | None = None,
    project: str | None = None,
    dry_run: bool = False,
    by: str | None = None,
) -> Forgetting:
    """Erase a source, a task or a whole project everywhere; return how much there was.

    It cannot be undone. What is forgotten does not come back when it is delivered or read again.

    Args:
        source: the source to forget, in the project.
        task: the task to forget, in the project.
        project: the project of the source or the task, the settings' project when not given;
            without a source and a task: the project to forget.
        dry_run: count what would be erased, and change nothing.
        by: who forgets it, for the record of the act; this process's user when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    source = optional_text_of("source", source, most=MAX_NAME)
    task = optional_text_of("task", task, most=MAX_NAME)
    actor, _ = decided_by(by, None)
    with open_project(project) as here:
        default = here.settings.project
        subject = subject_of(source=source, task=task, project=project, default=default)
        with opened(here.engine, here.settings, subject) as forgetter:
            return forgetter.rehearse() if dry_run else forgetter.forget(actor=actor)


def subject_of(
    *, source: str | None, task: str | None, project: str | None, default: str
) -> Subject:
    """Return the subject.

    Raises:
        InvalidRequest: nothing is named, or both a source and a task.
    """
    if source is not None and task is not None:
        message = "name a source or a task, not both: forget them one after the other"
        raise InvalidRequest(message)
    named = source if source is not None else task
    if named is not None:
        return Subject("task" if source is None else "source", project or default, named)
    if project is None:
        message = "name what to forget: a source, a task, or a project"
        raise InvalidRequest(message)
    return Subject("project", project, project)


@contextmanager
def opened(
    engine: Engine,
    settings: DaemonSettings,
    subject: Subject,
    # A history that was set aside is deleted, or of no use to anyone.
    warn: Callable[[str], None] = lambda _history: None,
) -> Iterator[Forgetter]:
    """Look for a subject everywhere, and yield what forgets it.

    Raises:
        ServerUnavailable: the database or Redis cannot be reached, or goes away meanwhile.
    """
    from trackrecord.redis.client import agent_client, worker_client
    from trackrecord.redis.passwords import ADMIN_USER
    from trackrecord.resources.access.redis_server import redis_explained

    from .forget import Forgetter

    with redis_explained(settings), worker_client(settings, user=ADMIN_USER) as client:
        # Patient once it has begun, as an erasure that stops half way has to be begun again.
        with agent_client(settings) as quick:
            quick.ping()
        yield Forgetter(engine, client, settings, subject, warn=warn)


aforget = awaited(forget)
