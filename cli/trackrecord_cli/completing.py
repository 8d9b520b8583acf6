"""What the shell completes beside commands and options: projects, ids, tasks.

They are read from the store. Nothing is made or migrated for it, and whatever goes wrong, the shell
gets no suggestion instead of an error.
"""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

if TYPE_CHECKING:
    from trackrecord.daemon_settings import DaemonSettings

# Nobody waits longer for a suggestion.
_PATIENCE_S: Final = 2.0

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def complete(*kinds: str) -> Completer:
    """Return what suggests names or ids of some kinds; see `queries.completions`, also "error"."""

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
    from .access import settings_for

    settings, name = settings_for(project)
    found: list[str] = []
    for kind in kinds:
        found += _errors(settings, name, typed) if kind == "error" else ()
        found += _stored(settings, kind, name, typed) if kind != "error" else ()
    return found


def _stored(settings: DaemonSettings, kind: str, project: str, typed: str) -> list[str]:
    from trackrecord.queries.completions import completions
    from trackrecord.store.database.engine import connect_store, reading

    if not settings.database_url and not (settings.home / "trackrecord.db").exists():
        return []
    engine = connect_store(settings.effective_database_url, timeout_s=_PATIENCE_S)
    try:
        with reading(engine) as connection:
            return completions(connection, kind, project, typed)
    finally:
        engine.dispose()


def _errors(settings: DaemonSettings, project: str, typed: str) -> list[str]:
    from trackrecord.queries.completions import MOST
    from trackrecord.queries.in_flight import error_ids

    from .access import open_redis

    with open_redis(settings) as client:
        known = error_ids(client, settings.keys, project)
        return [error for error in known if error.startswith(typed)][:MOST]


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
