"""Rank candidates that a person gives, alone or beside what their project has learnt."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final

from trackrecord.artifacts.client import open_artifacts
from trackrecord.errors import InvalidCandidate
from trackrecord.inflight.store import InFlightStore
from trackrecord.prompt.answers.context_answer import Context, context_from
from trackrecord.prompt.answers.own_task import OwnPart, OwnTask
from trackrecord.prompt.candidates.candidate import read_candidates
from trackrecord.prompt.choosing.inputs import Meaning, PromptRules
from trackrecord.prompt.question.question import (
    PromptArguments,
    PromptQuestion,
    asked_for,
    usual_question,
)
from trackrecord.prompt.question.rules import rules_from
from trackrecord.prompt.reading.client import Cached, RankingsReader
from trackrecord.resources.access.project_store import check_project

from .access import open_redis

if TYPE_CHECKING:
    from trackrecord.settings.daemon_settings import DaemonSettings

_PARTS: Final = ("candidates", "config", "budget")


def ranked(
    settings: DaemonSettings,
    data: bytes,
    asked: PromptArguments,
    project: str,
    *,
    task_id: str | None,
    learnt: bool,
) -> Context:
    """Return the candidates in their order, and which of them the budget has room for.

    Args:
        settings: the rules, and the servers.
        data: the candidates in JSON, with rules and a budget as far as given.
        asked: the question; its budget goes before that of the data.
        project: whose experience may compete.
        task_id: the task whose errors and outputs compete, too.
        learnt: whether what the project has learnt competes.

    Raises:
        InvalidCandidate: the data are not what they should be; the message names the culprit.
        ServerUnavailable: a server that is needed cannot be reached.
    """
    given = _read_question(data)
    rules = rules_from(given.get("config"), settings.context)
    if asked["budget"] is None:
        asked["budget"] = given.get("budget")
    question = asked_for(usual_question(project, rules), **asked)
    own = read_candidates(given["candidates"])
    found, meaning = _learnt(settings, question) if learnt else (Cached(), None)
    return context_from(
        question,
        found,
        PromptRules(rules, settings.memories),
        OwnPart(own, _own_task(settings, project, task_id)),
        now=time.time(),
        meaning=meaning,
    )


def _learnt(settings: DaemonSettings, question: PromptQuestion) -> tuple[Cached, Meaning | None]:
    with open_redis(settings):
        reader = RankingsReader(settings)
        found = reader.cached(question.project)
        meaning = reader.meaning(question, found)
    if found.document is None:
        check_project(question.project)
    return found, meaning


def _own_task(settings: DaemonSettings, project: str, task_id: str | None) -> OwnTask:
    if task_id is None:
        return OwnTask()
    with open_redis(settings) as client:
        store = InFlightStore(client, settings.keys, project, settings.errors)
        errors = store.read(task_id)
    return OwnTask(errors, settings.errors, open_artifacts(settings, project).of_task(task_id))


def _read_question(data: bytes) -> dict[str, Any]:
    """Read an object with candidates, config and budget, or a list of candidates alone.

    Raises:
        InvalidCandidate: it is neither; what is wrong with a candidate, its own check says.
    """
    given = _document(data)
    if isinstance(given, list):
        return {"candidates": given}
    if not isinstance(given, dict) or not isinstance(given.get("candidates"), list):
        message = "candidates are a JSON list, or stand as `candidates` in a JSON object"
        raise InvalidCandidate(message)
    if unknown := [name for name in given if name not in _PARTS]:
        message = f"there is no {unknown[0]!r} beside candidates; there are {', '.join(_PARTS[1:])}"
        raise InvalidCandidate(message)
    budget = given.get("budget")
    if budget is not None and type(budget) is not int:
        message = f"budget must be a whole number of tokens, not {budget!r}"
        raise InvalidCandidate(message)
    return given


def _document(data: bytes) -> object:
    # This parser takes NaN and 1e999 for numbers, so that their candidate can be named.
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"invalid JSON: {error}"
        raise InvalidCandidate(message) from None
