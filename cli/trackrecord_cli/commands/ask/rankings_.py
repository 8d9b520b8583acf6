"""`trackrecord rankings`: preview an agent's prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trackrecord.prompt.answers.json_documents import rankings_document
from trackrecord.prompt.candidates.sections import FEEDS
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.resources.access.project_store import check_project

from ...access import open_redis, settings_for
from ...arguments.options import (
    asked_conditions_option,
    format_option,
    json_option,
    lang_option,
    project_option,
    sections_options,
)
from ...output.screen import console, print_json, print_table, shown_ids

if TYPE_CHECKING:
    from trackrecord.learning.text.language import Language
    from trackrecord.prompt.answers.rankings_answer import Rankings
    from trackrecord.prompt.question.question import PromptArguments
    from trackrecord.settings.daemon_settings import DaemonSettings


@click.command("rankings")
@project_option
@json_option
@click.option("--task", help="Answer with what has to do with this text of the task at hand.")
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    help="Limit the text to this many tokens.  [default: the setting's, 400]",
)
@click.option("--limit", type=click.IntRange(min=0), help="Show at most this many of each kind.")
@asked_conditions_option
@sections_options
@click.option(
    "--why",
    "tells_why",
    is_flag=True,
    help="Show why each line is in the text, and why the best ten others are not.",
)
@lang_option
@format_option
def command(
    project: str | None,
    task: str | None,
    budget: int | None,
    limit: int | None,
    conditions: dict[str, str] | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    lang: Language,
    form: str,
    *,
    tells_why: bool,
    as_json: bool,
) -> None:
    """Show what an agent would get in its prompt.

    The answer comes from the cache in Redis.
    """
    settings, project = settings_for(project)
    asked: PromptArguments = {
        "project": project,
        "task": task,
        "budget": "default" if budget is None else budget,
        "limit": limit,
        "lang": lang,
        "conditions": conditions,
        "include": include or None,
        "exclude": exclude or None,
    }
    answer = _cached(settings, project, asked)
    if as_json:
        print_json(rankings_document(answer))
    elif form == "prompt":
        click.echo(answer.prompt)
        if tells_why:
            click.echo()
            _print_why(answer)
    elif tells_why:
        _print_why(answer)
    else:
        _print(answer)


def _cached(settings: DaemonSettings, project: str, asked: PromptArguments) -> Rankings:
    with open_redis(settings):
        answer = RankingsReader(settings).read(**asked)
    if answer.age_s is None:
        check_project(project)
    return answer


def _print_why(answer: Rankings) -> None:
    if not answer.why:
        console().print("nothing is known that could be handed out")
        return
    print_table(
        ("in", "section", "score", "tokens", "why", "content"),
        [
            (
                "yes" if why.is_in else "no",
                why.section,
                why.score,
                why.tokens,
                why.reason,
                why.text,
            )
            for why in answer.why
        ],
        about="content",
        secondary=("tokens", "score", "section"),
    )


def _print(answer: Rankings) -> None:
    entries = [entry for feed in FEEDS for entry in answer.told.get(feed.field, ())]
    ids = shown_ids([entry.id for entry in entries])
    rows = [(entry.label, entry.score, ids[entry.id], entry.gist) for entry in entries]
    if rows:
        columns = ("what", "score", "id", "content")
        print_table(columns, rows, about="content", secondary=("score",))
    age = "never computed" if answer.age_s is None else f"{answer.age_s:.1f} s old"
    note = f"{age}, {answer.tokens} tokens, {answer.left_out} left out"
    console().print(note + (f"; {answer.problem}" if answer.problem else ""))
    if answer.chosen_by is not None and answer.compared_by is not None:
        more = "; more information is needed" if answer.needs_more else ""
        console().print(f"confidence of the choice {answer.confidence:.4f}{more}")
