"""Completion in the shell beyond commands and options: projects, ids, tasks.

They are read from where they are kept. Nothing is made or migrated for it, and whatever goes wrong,
the shell gets no suggestion instead of an error.
"""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from trackrecord.settings.daemon_settings import DaemonSettings

# Nobody waits longer for a suggestion.
_PATIENCE_S: Final = 2.0

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def complete(*kinds: str) -> Completer:
    """Return what suggests names or ids of some kinds.

    Args:
        kinds: those of `access.completions`, "artifact", "error", "lesson" and "letter".
    """

    def suggest(ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
        given: dict[str, Any] = {}
        at: click.Context | None = ctx
        while at is not None:
            given = {**at.params, **given}
            at = at.parent
        try:
            with _not_forever():
                found = _found(kinds, given.get("project"), typed)
        except Exception:  # noqa: BLE001 - a shell must not show a traceback between two words
            return []
        # Agents give names: what a shell would act on is not put on its line.
        return [name for name in found if shlex.quote(name) == name]

    return suggest


def _found(kinds: tuple[str, ...], project: str | None, typed: str) -> list[str]:
    from ..access import settings_for

    settings, name = settings_for(project)
    found: list[str] = []
    for kind in kinds:
        if read := _READS.get(kind):
            found += read(settings, name, typed)
        else:
            found += _stored(settings, kind, name, typed)
    return found


def _stored(settings: DaemonSettings, kind: str, project: str, typed: str) -> list[str]:
    from trackrecord.resources.access.completions import completions

    with _existing_store(settings) as connection:
        return completions(connection, kind, project, typed) if connection else []


@contextmanager
def _existing_store(settings: DaemonSettings) -> Iterator[Connection | None]:
    """Open a reading transaction; None if there is no store."""
    from trackrecord.store.database.engine import reading
    from trackrecord.store.database.migrate import store_at

    if not settings.database_url and not (settings.home / "trackrecord.db").exists():
        yield None
        return
    url = settings.effective_database_url
    with (
        store_at(url, timeout_s=_PATIENCE_S, migrates=False) as engine,
        reading(engine) as connection,
    ):
        yield connection


def _commands(settings: DaemonSettings, project: str, typed: str) -> list[str]:
    from trackrecord.resources.access.completions import MOST
    from trackrecord.resources.access.project_store import Transaction
    from trackrecord.resources.experience.commands import commands_in

    with _existing_store(settings) as connection:
        known = commands_in(Transaction(connection, settings, project)) if connection else []
    return [each.id for each in known if each.id.startswith(typed)][:MOST]


def _lessons(settings: DaemonSettings, project: str, typed: str) -> list[str]:
    from trackrecord.resources.access.completions import MOST
    from trackrecord.resources.access.project_store import Transaction
    from trackrecord.resources.experience.lessons import lessons_of

    with _existing_store(settings) as connection:
        known = lessons_of(Transaction(connection, settings, project)) if connection else []
    return [lesson.id for lesson in known if lesson.id.startswith(typed)][:MOST]


def _artifacts(settings: DaemonSettings, project: str, typed: str) -> list[str]:
    from trackrecord.artifacts.client import open_artifacts
    from trackrecord.resources.access.completions import MOST

    known = open_artifacts(settings, project).entries()
    return [entry.id for entry in known if entry.id.startswith(typed)][:MOST]


def _letters(settings: DaemonSettings, _project: str, typed: str) -> list[str]:
    from trackrecord.resources.access.completions import MOST
    from trackrecord.resources.operation.dead_letters import letter_ids

    from ..access import open_redis

    with open_redis(settings) as client:
        return letter_ids(client, settings.keys, typed, limit=MOST)


def _errors(settings: DaemonSettings, project: str, typed: str) -> list[str]:
    from trackrecord.resources.access.completions import MOST
    from trackrecord.resources.reports.errors_in_flight import error_ids

    from ..access import open_redis

    with open_redis(settings) as client:
        known = error_ids(client, settings.keys, project)
        return [error for error in known if error.startswith(typed)][:MOST]


# The kinds that are not plain columns of the store.
_READS: Final[dict[str, Callable[[DaemonSettings, str, str], list[str]]]] = {
    "artifact": _artifacts,
    "command": _commands,
    "error": _errors,
    "lesson": _lessons,
    "letter": _letters,
}


@contextmanager
def _not_forever() -> Iterator[None]:
    def stop(_number: int, _frame: object) -> NoReturn:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    left = signal.setitimer(signal.ITIMER_REAL, _PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *left)
        signal.signal(signal.SIGALRM, before)
