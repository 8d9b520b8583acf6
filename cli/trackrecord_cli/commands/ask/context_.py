"""`trackrecord context`: candidates for a prompt, ranked and chosen under a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import click

from ...access import settings_for
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
    from trackrecord.prompt.question.question import PromptArguments


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
    from trackrecord.prompt.answers.json_documents import context_document

    from ...ranking import ranked

    settings, project = settings_for(project)
    if not learnt and (task is not None or task_id or conditions or include or exclude):
        message = (
            "--task, --task-id, --condition, --include and --exclude are about what is learnt; "
            "add --learnt"
        )
        raise click.UsageError(message)
    asked: PromptArguments = {
        "project": project,
        "task": task,
        "budget": budget,
        "lang": lang,
        "include": include or None,
        "exclude": exclude or None,
        "conditions": conditions,
    }
    answer = ranked(settings, source.read(), asked, project, task_id=task_id, learnt=learnt)
    if as_json:
        print_json(context_document(answer))
    elif form == "prompt":
        click.echo(answer.prompt)
    else:
        _print(answer)


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
