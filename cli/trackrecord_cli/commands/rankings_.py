"""`trackrecord rankings`: what an agent would get."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from ..access import check_project, open_redis, read_store, settings_for
from ..options import (
    at_option,
    format_option,
    json_option,
    lang_option,
    project_option,
)
from ..screen import console, print_json, print_table

if TYPE_CHECKING:
    import msgspec

    from trackrecord.daemon_settings import DaemonSettings
    from trackrecord.learning.text.language import Language
    from trackrecord.prompt.answer import Rankings

_BUDGET = 2000


@click.command("rankings")
@project_option
@at_option
@json_option
@click.option("--task", help="Put first what fits this text of the task at hand.")
@click.option(
    "--budget",
    type=int,
    default=_BUDGET,
    show_default=True,
    help="Limit the text to this many tokens.",
)
@click.option("--limit", type=click.IntRange(min=0), help="Show at most this many of each kind.")
@lang_option
@format_option("Print a table, or the prompt text itself.")
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
    """Show what an agent would get in its prompt.

    The answer comes from the cache in Redis; with --at it is computed from the record.
    """
    settings, project = settings_for(project)
    wanted: dict[str, Any] = {"task": task, "budget": budget, "limit": limit}
    answer = (
        _cached(settings, project, lang, wanted)
        if at is None
        else _answer_at(project, at, lang, wanted)
    )
    if as_json:
        print_json(_document(answer, at))
    elif form == "prompt":
        click.echo(answer.prompt)
    else:
        _print(answer, at)


def _cached(
    settings: DaemonSettings, project: str, language: Language, wanted: dict[str, Any]
) -> Rankings:
    from trackrecord.prompt.client import RankingsReader

    with open_redis(settings):
        answer = RankingsReader(settings).read(project=project, lang=language, **wanted)
    if answer.age_s is None:
        check_project(settings, project)
    return answer


def _document(answer: Rankings, at: float | None) -> dict[str, Any]:
    """Return the answer as a JSON object; the lines stand in the prompt already."""
    from trackrecord.prompt.sections import FEEDS
    from trackrecord.times import iso

    document = dict(vars(answer)) | {"as_of": iso(at)}
    for feed in FEEDS:
        document[feed.field] = [_without_lines(entry) for entry in document[feed.field]]
    return document


def _without_lines(entry: msgspec.Struct) -> dict[str, Any]:
    import msgspec

    return {name: value for name, value in msgspec.structs.asdict(entry).items() if name != "lines"}


def _answer_at(project: str, at: float, language: Language, wanted: dict[str, Any]) -> Rankings:
    from trackrecord.prompt.answer import answer_from
    from trackrecord.queries.past_rankings import rankings_at

    with read_store(project) as (connection, settings, name):
        document = rankings_at(connection, settings, name, at)
    return answer_from(
        document,
        project=project,
        problem=None,
        language=language,
        now=time.time(),
        rules=settings.context,
        memory_rules=settings.memories,
        **wanted,
    )


def _print(answer: Rankings, at: float | None) -> None:
    from trackrecord.prompt.sections import FEEDS
    from trackrecord.times import iso

    rows = [
        (entry.label, entry.score, entry.id, entry.gist)
        for feed in FEEDS
        for entry in getattr(answer, feed.field)
    ]
    if rows:
        print_table(("what", "score", "id", "content"), rows)
    if at is not None:
        age = f"as of {iso(at)}"
    else:
        age = "never computed" if answer.age_s is None else f"{answer.age_s:.1f} s old"
    note = f"{age}, {answer.tokens} tokens, {answer.left_out} left out"
    console().print(note + (f"; {answer.problem}" if answer.problem else ""))
