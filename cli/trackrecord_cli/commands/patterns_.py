"""`trackrecord patterns`: where patterns stand."""

import time
from dataclasses import asdict
from typing import Any

import click
import msgspec
from rich.text import Text
from sqlalchemy import Connection

from trackrecord.errors import UnknownId
from trackrecord.factories import recogniser_of
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.standing import Standing
from trackrecord.learning.strategies.identity import pattern_id_of
from trackrecord.learning.text.language import Language
from trackrecord.prompt.document import RankedPattern
from trackrecord.prompt.learnt import patterns_text
from trackrecord.prompt.presentation import present_pattern
from trackrecord.settings import Settings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.read import (
    EVERY,
    PatternFilter,
    read_changes,
    read_examples,
    read_standings,
)
from trackrecord.times import iso
from trackrecord.wire.scored_outcome import NAMED, STRATEGY

from ..access import open_store, settings_for
from ..options import at_option, format_option, json_option, lang_option, project_option
from ..screen import console, print_json, print_table
from .deciding import COMMANDS

_COLOURS = {"proven": "green", "established": "cyan", "candidate": "yellow", "deprecated": "red"}


@click.group("patterns")
def command() -> None:
    """What helps and what hurts, as the fleet has learnt it."""


for each_command in COMMANDS:
    command.add_command(each_command)


@command.command("list")
@project_option
@at_option
@json_option
@click.option("--anti", "only_anti", is_flag=True, help="Only anti-patterns.")
@click.option("--state", type=click.Choice(list(map(str, Maturity))), help="Only those in it.")
@click.option("--tag", type=click.Choice([STRATEGY, NAMED]), help="Only those with it.")
@click.option("--content", help="Only those whose content holds this text.")
@format_option("prompt: a text; deprecated ones stand in it with --state deprecated.")
@lang_option
def list_patterns(
    project: str | None,
    at: float | None,
    state: str | None,
    tag: str | None,
    content: str | None,
    form: str,
    lang: Language,
    *,
    as_json: bool,
    only_anti: bool,
) -> None:
    """All patterns, best first, warnings last; or those that are asked for."""
    settings, project = settings_for(project)
    wanted = PatternFilter(Maturity(state) if state else None, tag, content, only_anti)
    with open_store(settings) as engine, reading(engine) as connection:
        found = standings(connection, settings, project, at, wanted)
    name_of = recogniser_of(settings.rules).name_of
    shown = [present_pattern(standing, name_of, settings.texts) for standing in found]
    shown.sort(key=lambda each: (each.is_negative, -each.score, each.id))
    if as_json:
        print_json([as_document(each) for each in shown])
        return
    if form == "prompt":
        with_deprecated = wanted.state is Maturity.DEPRECATED
        if text := patterns_text(shown, lang, with_deprecated=with_deprecated):
            click.echo(text)
        return
    if not shown:
        click.echo(f"no such patterns on record for project {project!r}")
        return
    print_table(
        ("id", "state", "score", "helpful", "neutral", "harmful", "content"),
        (
            (
                each.id,
                _state(each),
                each.score,
                each.helpful_count,
                each.neutral_count,
                each.harmful_count,
                each.content,
            )
            for each in shown
        ),
    )


@command.command("show")
@click.argument("pattern_id", metavar="ID")
@project_option
@at_option
@json_option
def show_pattern(pattern_id: str, project: str | None, at: float | None, *, as_json: bool) -> None:
    """One pattern: its numbers, its newest examples, its changes of state."""
    settings, project = settings_for(project)
    with open_store(settings) as engine, reading(engine) as connection:
        standing = find_standing(connection, settings, project, pattern_id, at)
        project_id = project_id_of(connection, project)
        assert project_id is not None  # noqa: S101 - the standing was found in it
        slug = standing.facts.slug
        examples = read_examples(
            connection, project_id, slug, at=at, most=settings.antipatterns.examples_kept
        )
        changes = read_changes(connection, project_id, slug, at=at)
    document = as_document(
        present_pattern(standing, recogniser_of(settings.rules).name_of, settings.texts)
    ) | {
        "examples": [{**asdict(each), "ended_at": iso(each.ended_at)} for each in examples],
        "history": [
            {
                "at": iso(change.at),
                "aspect": change.aspect,
                "before": change.before,
                "after": change.after,
                **asdict(change.evidence),
                "decision": change.decision,
                "by": change.actor,
                "reason": change.reason,
            }
            for change in changes
        ],
    }
    if as_json:
        print_json(document)
        return
    _print_pattern(document)


def standings(
    connection: Connection,
    settings: Settings,
    project: str,
    at: float | None,
    wanted: PatternFilter = EVERY,
) -> list[Standing]:
    """Where the patterns stand that are wanted; none for a project that is not on record."""
    project_id = project_id_of(connection, project)
    if project_id is None:
        return []
    return read_standings(
        connection, project_id, settings.rules, now=time.time(), at=at, wanted=wanted
    )


def find_standing(
    connection: Connection, settings: Settings, project: str, pattern_id: str, at: float | None
) -> Standing:
    """Where one pattern stands; its own id and that of its anti-pattern both name it.

    Raises:
        UnknownId: there is no such pattern in the project.
    """
    project_id = project_id_of(connection, project)
    slug = pattern_id_of(pattern_id)
    found = (
        read_standings(connection, project_id, settings.rules, now=time.time(), at=at, slug=slug)
        if project_id is not None
        else []
    )
    if not found:
        message = f"no pattern {pattern_id!r} in project {project!r}; `patterns list` shows all"
        raise UnknownId(message)
    return found[0]


def as_document(pattern: RankedPattern) -> dict[str, Any]:
    """A pattern as JSON shows it."""
    document = msgspec.structs.asdict(pattern)
    del document["lines"]
    document["last_validated"] = iso(pattern.last_validated)
    return document


def _state(pattern: RankedPattern) -> Text:
    if pattern.is_negative:
        return Text("anti-pattern", style="bold red")
    return Text(pattern.state, style=_COLOURS[pattern.state])


def _print_pattern(document: dict[str, Any]) -> None:
    out = console()
    examples, history = document.pop("examples"), document.pop("history")
    document["tags"] = ", ".join(document["tags"])
    print_table(("field", "value"), document.items())
    if examples:
        out.print("newest examples")
        print_table(
            ("task", "verdict", "success", "ended"),
            ((e["task_id"], e["verdict"], e["success"], e["ended_at"]) for e in examples),
        )
    if history:
        out.print("history")
        print_table(
            ("at", "aspect", "before", "after", "helpful", "neutral", "harmful", "by", "reason"),
            (
                (
                    h["at"],
                    h["aspect"],
                    h["before"],
                    h["after"],
                    h["helpful"],
                    h["neutral"],
                    h["harmful"],
                    h["by"],
                    h["reason"],
                )
                for h in history
            ),
        )
