"""`trackrecord patterns`: where patterns stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.queries.sorting import PATTERNS

from ..access import read_store
from ..completing import complete
from ..deciding import COMMANDS
from ..group import CommandGroup
from ..options import (
    OneOf,
    at_option,
    format_option,
    json_option,
    lang_option,
    list_options,
    project_option,
)
from ..screen import (
    Coloured,
    for_people,
    print_details,
    print_json,
    print_table,
    say_more,
    shown_ids,
)
from ..tagging import tag as tag_command
from ..text_input import text_or_input
from ..trends import pattern_trends, trend

if TYPE_CHECKING:
    from trackrecord.learning.text.language import Language
    from trackrecord.prompt.documents.rankings_document import RankedPattern
    from trackrecord.queries.patterns import Pattern
    from trackrecord.resources.paging import Order

_COLOURS = {"proven": "green", "established": "cyan", "candidate": "yellow", "deprecated": "red"}


@click.group("patterns", cls=CommandGroup)
def command() -> None:
    """Show what helps and what hurts, and decide about it."""


for each_command in (*COMMANDS, tag_command):
    command.add_command(each_command)


@command.command("list")
@list_options(PATTERNS)
@click.option(
    "--anti", "only_anti", is_flag=True, help="Show only patterns that have become anti-patterns."
)
@click.option(
    "--state", type=OneOf([*map(str, Maturity)]), help="Show only patterns in this maturity state."
)
@click.option(
    "--tag", help="Show only patterns with this tag, or of this kind: `strategy` or `named`."
)
@click.option("--content", help="Show only patterns whose content contains this text.")
@format_option(
    "Print a table or prompt text. Prompt text leaves out deprecated patterns unless "
    "--state deprecated is given."
)
@lang_option
def list_patterns(
    project: str | None,
    at: float | None,
    limit: int | None,
    order: Order | None,
    state: str | None,
    tag: str | None,
    content: str | None,
    form: str,
    lang: Language,
    *,
    as_json: bool,
    only_anti: bool,
) -> None:
    """List patterns, best first, anti-patterns last. Options narrow the list."""
    from trackrecord.queries import patterns
    from trackrecord.queries.estimates import read_estimates

    wanted = patterns.pattern_filter(state=state, tag=tag, content=content, only_anti=only_anti)
    with read_store(project) as (connection, settings, name):
        # Prompt text is the state's; it holds no estimate.
        is_prompt = form == "prompt" and not as_json
        is_plain = is_prompt and order is None
        estimates = None if is_plain else read_estimates(connection, settings, name, at=at)
        found = patterns.list_patterns(
            connection,
            settings,
            name,
            at=at,
            wanted=wanted,
            estimates=estimates,
            language=lang,
        )
        found = PATTERNS.sorted(found, order)
        shown = found[:limit]
        verdicts = {} if as_json or is_prompt else dict(map(_verdicts, shown))
        trends = pattern_trends(connection, name, verdicts, at)
    if as_json:
        print_json([pattern.to_document() for pattern in shown])
    elif form == "prompt":
        _print_prompt(shown, lang, with_deprecated=state == "deprecated")
    elif not shown:
        click.echo(f"no such patterns in project {name!r}")
    else:
        _print(shown, [pattern.shown.id for pattern in found], trends)
        say_more(len(found) - len(shown), "patterns")


def _verdicts(pattern: Pattern) -> tuple[str, int]:
    shown = pattern.shown
    count = shown.helpful_count + shown.neutral_count + shown.harmful_count
    return pattern.standing.facts.slug, count


def _print_prompt(found: list[Pattern], lang: Language, *, with_deprecated: bool) -> None:
    from trackrecord.prompt.answers.learnt_entries import patterns_text

    shown = (pattern.shown for pattern in found)
    if text := patterns_text(shown, lang, with_deprecated=with_deprecated):
        click.echo(text)


def _print(found: list[Pattern], known: list[str], trends: Mapping[str, str]) -> None:
    from trackrecord.learning.advice.estimates.wording import sentence

    ids = shown_ids([pattern.shown.id for pattern in found], known)
    print_table(
        (
            "id",
            "state",
            "score",
            "helpful",
            "neutral",
            "harmful",
            *for_people("trend"),
            "content",
            "estimate",
        ),
        (
            (
                ids[shown.id],
                _state(shown),
                shown.score,
                shown.helpful_count,
                shown.neutral_count,
                shown.harmful_count,
                *for_people(trends.get(pattern.standing.facts.slug, "")),
                shown.content,
                None if pattern.estimate is None else sentence(pattern.estimate),
            )
            for pattern in found
            for shown in (pattern.shown,)
        ),
    )


def _state(pattern: RankedPattern) -> Coloured:
    if pattern.is_negative:
        return Coloured("anti-pattern", "bold red")
    return Coloured(pattern.state, _COLOURS[pattern.state])


@command.command("recognise")
@click.argument("text", metavar="TEXT|-")
@json_option
def recognise(text: str, *, as_json: bool) -> None:
    """Find the strategies that a text mentions; - reads it from standard input.

    They are recognised as in the description of an outcome. No server is needed, and nothing is
    recorded.
    """
    from trackrecord.calls.strategies import strategies

    found = strategies(text_or_input(text, "description"))
    if as_json:
        print_json(
            [{"id": each.slug, "name_en": each.name_en, "name_zh": each.name_zh} for each in found]
        )
    elif not found:
        click.echo("no strategy is mentioned")
    else:
        print_table(("id", "name"), ((each.slug, each.name_en or each.name_zh) for each in found))


@command.command("show")
@click.argument("pattern_id", metavar="ID", shell_complete=complete("pattern"))
@project_option
@at_option
@json_option
def show_pattern(pattern_id: str, project: str | None, at: float | None, *, as_json: bool) -> None:
    """Show one pattern with its numbers, its newest examples and its history."""
    from trackrecord.queries import patterns

    with read_store(project) as (connection, settings, name):
        details = patterns.show_pattern(connection, settings, name, pattern_id, at=at)
        slug = details.pattern.standing.facts.slug
        verdicts = {} if as_json else dict([_verdicts(details.pattern)])
        trends = pattern_trends(connection, name, verdicts, at)
    if as_json:
        print_json(details.to_document())
    else:
        print_details(details.to_document() | trend(trends.get(slug)))
