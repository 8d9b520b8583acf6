"""`trackrecord context`: candidates for a prompt, ranked and chosen under a budget."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from trackrecord.errors import InvalidCandidate
from trackrecord.resources.access.project_store import check_project

from ...access import open_redis, settings_for
from ...arguments.options import (
    Read,
    asked_conditions_option,
    format_option,
    json_option,
    lang_option,
    name_of,
    project_option,
    sections_options,
)
from ...group import CommandGroup
from ...output.screen import console, print_json, print_table

if TYPE_CHECKING:
    from trackrecord.learning.text.language import Language
    from trackrecord.prompt.answers.context_answer import Considered, Context
    from trackrecord.prompt.answers.own_task import OwnTask
    from trackrecord.prompt.choosing.inputs import Meaning
    from trackrecord.prompt.question.question import PromptQuestion
    from trackrecord.prompt.reading.client import Cached
    from trackrecord.settings.daemon_settings import DaemonSettings


_PARTS = ("candidates", "config", "budget")


@click.group("context", cls=CommandGroup)
def command() -> None:
    """Rank candidates for a prompt under a token budget."""


@command.command("rank")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), default="-")
@click.option(
    "--budget",
    type=int,
    help="Limit the text to this many tokens.  [default: the file's budget, else no limit]",
)
@click.option(
    "--learnt",
    is_flag=True,
    help="Let what the project has learnt compete, too; this needs the servers.",
)
@project_option
@click.option("--task", help="Rank what is learnt by this text of the task at hand.")
@click.option(
    "--task-id",
    type=Read("id", name_of(256)),
    help="Let the unresolved errors and the stored outputs of this task compete, too.",
)
@asked_conditions_option
@sections_options
@lang_option
@format_option
@json_option
def rank(
    source: BinaryIO,
    budget: int | None,
    project: str | None,
    task: str | None,
    task_id: str | None,
    conditions: dict[str, str] | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    lang: Language,
    form: str,
    *,
    learnt: bool,
    as_json: bool,
) -> None:
    """Rank candidates given as JSON, and choose what fits the budget.

    The JSON is a list of candidates, or an object with `candidates` and, as far as they differ from
    the settings, `config` and `budget`.
    """
    from trackrecord.prompt.answers.context_answer import context_from
    from trackrecord.prompt.answers.own_task import OwnPart
    from trackrecord.prompt.candidates.candidate import read_candidates
    from trackrecord.prompt.choosing.inputs import PromptRules
    from trackrecord.prompt.question.question import asked_for, usual_question
    from trackrecord.prompt.question.rules import rules_from
    from trackrecord.prompt.reading.client import Cached

    settings, project = settings_for(project)
    if not learnt and (task is not None or task_id or conditions or include or exclude):
        message = (
            "--task, --task-id, --condition, --include and --exclude are about what is learnt; "
            "add --learnt"
        )
        raise click.UsageError(message)
    given = _read_question(source.read())
    rules = rules_from(given.config, settings.context)
    question = asked_for(
        usual_question(project, rules),
        project=project,
        task=task,
        budget=given.budget if budget is None else budget,
        lang=lang,
        include=include or None,
        exclude=exclude or None,
        conditions=conditions,
    )
    own = read_candidates(given.candidates)
    found, meaning = _learnt(settings, question) if learnt else (Cached(), None)
    answer = context_from(
        question,
        found,
        PromptRules(rules, settings.memories),
        OwnPart(own, _own_task(settings, project, task_id)),
        now=time.time(),
        meaning=meaning,
    )
    if as_json:
        from trackrecord.prompt.answers.json_documents import context_document

        print_json(context_document(answer))
    elif form == "prompt":
        click.echo(answer.prompt)
    else:
        _print(answer)


def _learnt(settings: DaemonSettings, question: PromptQuestion) -> tuple[Cached, Meaning | None]:
    from trackrecord.prompt.reading.client import RankingsReader

    with open_redis(settings):
        reader = RankingsReader(settings)
        found = reader.cached(question.project)
        meaning = reader.meaning(question, found)
    if found.document is None:
        check_project(question.project)
    return found, meaning


def _own_task(settings: DaemonSettings, project: str, task_id: str | None) -> OwnTask:
    from trackrecord.artifacts.client import open_artifacts
    from trackrecord.inflight.store import InFlightStore
    from trackrecord.prompt.answers.own_task import OwnTask

    if task_id is None:
        return OwnTask()
    with open_redis(settings) as client:
        store = InFlightStore(client, settings.keys, project, settings.errors)
        errors = store.read(task_id)
    return OwnTask(errors, settings.errors, open_artifacts(settings, project).of_task(task_id))


def _print(answer: Context) -> None:
    ranked = [each for each in (*answer.taken, *answer.left_out) if each.rank is not None]
    others = [each for each in answer.left_out if each.rank is None]
    rows = [_row(each) for each in (*sorted(ranked, key=lambda each: each.rank or 0), *others)]
    if rows:
        print_table(("rank", "id", "kind", "score", "tokens", "what became of it"), rows)
    note = f"{answer.tokens} tokens, {len(answer.left_out)} left out"
    console().print(note + (f"; {answer.problem}" if answer.problem else ""))


def _row(each: Considered) -> tuple[object, ...]:
    became = "taken" if each.reason is None else f"left out: {each.reason}"
    return each.rank, each.id, each.kind, each.score, each.tokens, became


@dataclass(frozen=True)
class _RankingQuestion:
    """The question of a ranking of candidates.

    Attributes:
        candidates: as they were given.
        config: rules that differ from the settings, None for none.
        budget: in tokens, None for no limit.
    """

    candidates: list[Any]
    config: dict[str, Any] | None = None
    budget: int | None = None


def _read_question(data: bytes) -> _RankingQuestion:
    """Read a list of candidates, or an object with candidates, config and budget.

    Raises:
        InvalidCandidate: it is neither; what is wrong with a candidate, its own check says.
    """
    given = _document(data)
    if isinstance(given, list):
        return _RankingQuestion(given)
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
    return _RankingQuestion(given["candidates"], given.get("config"), budget)


def _document(data: bytes) -> object:
    # This parser takes NaN and 1e999 for numbers, so that their candidate can be named.
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"invalid JSON: {error}"
        raise InvalidCandidate(message) from None
