"""`trackrecord context`: candidates for a prompt, ranked and chosen under a budget."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, BinaryIO

import click

from ..access import check_project, open_redis, read_store, settings_for
from ..group import CommandGroup
from ..options import (
    Read,
    asked_conditions_option,
    at_option,
    format_option,
    json_option,
    lang_option,
    name_of,
    project_option,
    sections_options,
)
from ..screen import console, print_json, print_table

if TYPE_CHECKING:
    from trackrecord.daemon_settings import DaemonSettings
    from trackrecord.learning.text.language import Language
    from trackrecord.prompt.client import Cached
    from trackrecord.prompt.context_answer import Considered, Context
    from trackrecord.prompt.hints import Hints
    from trackrecord.prompt.own_task import OwnTask
    from trackrecord.prompt.wanted import WantedSections


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
@at_option
@click.option("--task", help="Rank what is learnt by this text of the task at hand.")
@click.option(
    "--task-id",
    type=Read("id", name_of(256)),
    help="Let the unresolved errors and the stored outputs of this task compete, too.",
)
@asked_conditions_option
@sections_options
@lang_option
@format_option("Print a table, or the prompt text itself.")
@json_option
def rank(
    source: BinaryIO,
    budget: int | None,
    project: str | None,
    at: float | None,
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
    from trackrecord.prompt.candidates.partial_rules import rules_from
    from trackrecord.prompt.candidates.read import read_candidates
    from trackrecord.prompt.context_answer import context_from
    from trackrecord.prompt.hints import NO_HINTS
    from trackrecord.prompt.wanted import usually_wanted

    from ..candidate_input import read_question

    settings, project = settings_for(project)
    if not learnt and (
        at is not None or task is not None or task_id or conditions or include or exclude
    ):
        message = (
            "--at, --task, --task-id, --condition, --include and --exclude are about what is "
            "learnt; add --learnt"
        )
        raise click.UsageError(message)
    question = read_question(source.read())
    own = read_candidates(question.candidates)
    rules = rules_from(question.config, settings.context)
    now = time.time()
    wanted = usually_wanted(include or rules.include, exclude or rules.exclude)
    found, hints = None, NO_HINTS
    if learnt:
        found, hints = _learnt(settings, project, at, task, conditions, wanted)
    answer = context_from(
        None if found is None else found.document,
        own,
        rules,
        project=project,
        problem=None if found is None else found.problem,
        task=task,
        budget=question.budget if budget is None else budget,
        language=lang,
        memory_rules=settings.memories,
        now=now,
        advice=None if found is None else found.advice,
        wanted=wanted,
        hints=hints,
        own_task=_own_task(settings, project, task_id, at),
    )
    if as_json:
        from trackrecord.prompt.documents import context_document

        print_json(context_document(answer))
    elif form == "prompt":
        click.echo(answer.prompt)
    else:
        _print(answer)


def _learnt(
    settings: DaemonSettings,
    project: str,
    at: float | None,
    task: str | None,
    conditions: dict[str, str] | None,
    wanted: WantedSections,
) -> tuple[Cached, Hints]:
    from trackrecord.prompt.client import Cached, RankingsReader
    from trackrecord.prompt.hints import Hints
    from trackrecord.queries.advice import build_advice
    from trackrecord.queries.past_rankings import rankings_at

    if at is not None:
        with read_store(project) as (connection, _, name):
            document = rankings_at(connection, settings, name, at)
            advice = build_advice(connection, name, settings.rules, now=time.time(), at=at)
        return Cached(document, advice), Hints(conditions)
    with open_redis(settings):
        reader = RankingsReader(settings)
        found = reader.cached(project)
        hints = reader.hints(found, project, task=task, conditions=conditions, wanted=wanted)
    if found.document is None:
        check_project(settings, project)
    return found, hints


def _own_task(
    settings: DaemonSettings, project: str, task_id: str | None, at: float | None
) -> OwnTask:
    from trackrecord.artifacts.client import open_outputs
    from trackrecord.inflight.store import InFlightStore
    from trackrecord.prompt.own_task import OwnTask

    if task_id is None:
        return OwnTask()
    with open_redis(settings) as client:
        store = InFlightStore(client, settings.keys, project, settings.errors)
        errors = store.read(task_id, at=at)
    outputs = open_outputs(settings, project).of_task(task_id)
    return OwnTask(
        errors, settings.errors, [each for each in outputs if at is None or each.stored_at <= at]
    )


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
