"""`trackrecord rankings`: what an agent would get."""

import time
from typing import Any

import click
import msgspec

from trackrecord.learning.text.language import Language
from trackrecord.prompt.answer import Rankings, answer_from
from trackrecord.prompt.asked import DEFAULT_BUDGET
from trackrecord.prompt.candidates.sections import FEEDS
from trackrecord.prompt.client import RankingsReader
from trackrecord.prompt.document import RankingsDocument
from trackrecord.queries.prompt_document import build_document
from trackrecord.settings import Settings
from trackrecord.store.database.engine import reading

from ..access import open_redis, open_store, settings_for
from ..options import at_option, format_option, json_option, lang_option, project_option
from ..screen import console, print_json, print_table


@click.command("rankings")
@project_option
@at_option
@json_option
@click.option("--task", help="Text of the task at hand: what fits it comes first.")
@click.option("--budget", type=int, default=DEFAULT_BUDGET, show_default=True, help="In tokens.")
@click.option("--limit", type=click.IntRange(min=0), help="At most so many of each kind.")
@lang_option
@format_option("prompt: the text itself.")
def command(
    project: str | None,
    at: float | None,
    task: str | None,
    budget: int,
    limit: int | None,
    lang: Language,
    form: str,
    *,
    as_json: bool,
) -> None:
    """What an agent would get: from the cache, or computed for a moment with --at."""
    settings, project = settings_for(project)
    wanted: dict[str, Any] = {"task": task, "budget": budget, "limit": limit}
    if at is None:
        with open_redis(settings):
            answer = RankingsReader(settings).read(project=project, lang=lang, **wanted)
    else:
        answer = _answer_at(settings, project, at, lang, wanted)
    if as_json:
        print_json(as_document(answer))
    elif form == "prompt":
        click.echo(answer.prompt)
    else:
        _print(answer)


def as_document(answer: Rankings) -> dict[str, Any]:
    """The answer as JSON shows it; the lines stand in the prompt already."""
    document = dict(vars(answer))
    for feed in FEEDS:
        document[feed.field] = [_without_lines(entry) for entry in document[feed.field]]
    return document


def _without_lines(entry: msgspec.Struct) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(entry).items() if name != "lines"}


def _answer_at(
    settings: Settings, project: str, at: float, language: Language, wanted: dict[str, Any]
) -> Rankings:
    now = time.time()
    document = document_at(settings, project, at, now=now)
    return answer_from(
        document,
        project=project,
        problem=None,
        language=language,
        now=now,
        rules=settings.context,
        memory_rules=settings.memories,
        **wanted,
    )


def document_at(settings: Settings, project: str, at: float, *, now: float) -> RankingsDocument:
    """A project's rankings as of a moment, from the store."""
    with open_store(settings) as engine, reading(engine) as connection:
        return build_document(
            connection,
            project,
            settings.rules,
            most=settings.rankings_max,
            now=now,
            at=at,
        )


def _print(answer: Rankings) -> None:
    rows = [
        (entry.label, entry.score, entry.id, entry.gist)
        for feed in FEEDS
        for entry in getattr(answer, feed.field)
    ]
    if rows:
        print_table(("what", "score", "id", "content"), rows)
    age = "never computed" if answer.age_s is None else f"{answer.age_s:.1f} s old"
    note = f"{age}, {answer.tokens} tokens, {answer.left_out} left out"
    console().print(note + (f"; {answer.problem}" if answer.problem else ""))
