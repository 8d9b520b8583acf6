"""HTTP calls about prompts and about the status."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

import trackrecord
from trackrecord.errors import InvalidRequest, SettingsError
from trackrecord.learning.advice.rules import Explore
from trackrecord.learning.text.language import Language
from trackrecord.prompt.answers.json_documents import context_document, rankings_document
from trackrecord.prompt.reading.client import rankings
from trackrecord.prompt.reading.context import context
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.operation import status
from trackrecord.resources.operation.dead_letters import count_letters
from trackrecord.resources.operation.status import StatusAnswer
from trackrecord.store.database.engine import reading
from trackrecord_producers.spool.files import spool_size

if TYPE_CHECKING:
    from trackrecord.prompt.answers.context_answer import Context
    from trackrecord_door.query_service import QueryService

    from ..protocol.callers import Caller


def read_status(
    service: QueryService, caller: Caller, *, project: str | None = None
) -> StatusAnswer:
    """Return whether the loop is alive, and how much it has learnt.

    Without a project the counts are those of all projects. A token for one project is told neither
    where the servers are nor of the dead letters of others.

    Args:
        service: has the store and Redis.
        caller: whoever asks.
        project: Whose counts.
    """
    letters = None
    if caller.project is not None:
        letters = count_letters(service.client, service.settings.keys, caller.project)
    with reading(service.engine) as connection:
        found = status.read_status(
            service.client,
            connection,
            service.settings,
            project=project,
            spooled=spool_size(service.settings).outcomes,
            dead_letters=letters,
        )
    if caller.project is not None:
        found = replace(found, home=None, redis=None, database=None, bytes=None)
    return found


def show_rankings(
    service: QueryService,
    *,
    task: str | None = None,
    budget: int | None = None,
    limit: int | None = None,
    lang: Language = "en",
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    conditions: Mapping[str, str] | None = None,
    project: str,
) -> dict[str, Any]:
    """Return what an agent would get in its prompt; nothing is recorded.

    The answer comes from the cache in Redis.

    Args:
        service: has the store.
        task: The text of the task at hand: what has to do with it is handed out.
        budget: Tokens that the prompt text may take; the setting's, 400, when not given.
        limit: How many entries of each section at most.
        lang: The language of the text, "en" or "zh".
        include: The sections to answer from; may be repeated.
        exclude: The sections to leave out; may be repeated.
        conditions: The conditions under which the task appeared, as `os=linux`; may be repeated.
        project: Whose experience.
    """
    given = {**locals(), "include": include or None, "exclude": exclude or None}
    del given["service"]
    if budget is None:
        given["budget"] = "default"
    answer = rankings(**given)
    if answer.age_s is None:
        _check_project(service, project)
    return rankings_document(answer)


def _check_project(service: QueryService, project: str) -> None:
    with reading(service.engine) as connection:
        project_row(connection, project)


def take_rankings(
    *,
    task: str | None = None,
    budget: int | None = None,
    limit: int | None = None,
    lang: Language = "en",
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    task_id: str | None = None,
    explore: Explore | None = None,
    conditions: object = None,
    project: str,
) -> dict[str, Any]:
    """Hand what the fleet has learnt to a task: as `GET /rankings`, and that it was is recorded.

    Args:
        task: The text of the task at hand: what has to do with it is handed out.
        budget: Tokens that the prompt text may take; the setting's, 400, when not given.
        limit: How many entries of each section at most.
        lang: The language of the text, "en" or "zh".
        include: The sections to answer from.
        exclude: The sections to leave out.
        task_id: The id that the task's outcome will have, so that `effect` can say whether it
            helps. A task of the holdout gets an empty answer, see `arm`.
        explore: Whether entries that are little known are tried: "off", "some" or "full".
        conditions: The conditions under which the task appeared, for example `{"os": "linux"}`.
        project: Whose experience.
    """
    given = {**locals(), "budget": "default" if budget is None else budget}
    return rankings_document(trackrecord.rankings(**given))


def take_context(
    *,
    task: str | None = None,
    candidates: Sequence[Mapping[str, Any]] = (),
    budget: int = 2000,
    lang: Language = "en",
    config: Mapping[str, Any] | None = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    task_id: str | None = None,
    explore: Explore | None = None,
    conditions: object = None,
    project: str,
) -> dict[str, Any]:
    """Rank the agent's own candidates and what the fleet has learnt, and write what fits.

    What the task is handed is recorded.

    Args:
        task: The text of the task at hand.
        candidates: The agent's own, each with `id`, `kind` and `content`.
        budget: Tokens that the text may take.
        lang: The language of headings and of what is learnt, "en" or "zh".
        config: Rules that differ from those of the settings.
        include: The sections that compete beside the agent's own candidates.
        exclude: The sections that do not.
        task_id: The id that the task's outcome will have: its unresolved errors and its newest
            stored outputs compete, too.
        explore: Whether entries that are little known are tried: "off", "some" or "full".
        conditions: The conditions under which the task appeared, for example `{"os": "linux"}`.
        project: Whose experience.
    """
    given = locals()
    return _composed(trackrecord.context, given)


def show_context(
    *,
    task: str | None = None,
    candidates: Sequence[Mapping[str, Any]] = (),
    budget: int = 2000,
    lang: Language = "en",
    config: Mapping[str, Any] | None = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    conditions: object = None,
    project: str,
) -> dict[str, Any]:
    """Return what `POST /context` would answer; nothing is recorded.

    Args:
        task: The text of the task at hand.
        candidates: The agent's own, each with `id`, `kind` and `content`.
        budget: Tokens that the text may take.
        lang: The language of headings and of what is learnt, "en" or "zh".
        config: Rules that differ from those of the settings.
        include: The sections that compete beside the agent's own candidates.
        exclude: The sections that do not.
        conditions: The conditions under which the task appeared, for example `{"os": "linux"}`.
        project: Whose experience.
    """
    given = locals()
    return _composed(context, given)


def _composed(ask: Callable[..., Context], given: dict[str, Any]) -> dict[str, Any]:
    try:
        return context_document(ask(**given))
    except SettingsError as error:  # of the rules that were given: a wrong setting is a `problem`
        raise InvalidRequest(str(error)) from None
