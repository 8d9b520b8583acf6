"""`trackrecord dead`: outcomes that could not be learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trackrecord.queries.sorting import DEAD_LETTERS
from trackrecord.resources.paging import Order

from ..access import open_redis, settings_for
from ..completing import complete
from ..group import CommandGroup
from ..options import at_option, json_option, limit_option, sort_option
from ..screen import print_json, print_table, say_more

if TYPE_CHECKING:
    from trackrecord.queries.dead_letters import DeadLetter


@click.group("dead", cls=CommandGroup)
def command() -> None:
    """Show, replay or discard outcomes that could not be learnt."""


@command.command("list")
@at_option
@limit_option("dead letters", default=100)
@sort_option(DEAD_LETTERS)
@json_option
def list_letters(limit: int, order: Order | None, at: float | None, *, as_json: bool) -> None:
    """List the oldest dead letters, each with the reason why it could not be learnt.

    With --at the list holds those of the letters still there that had been set aside by then. A
    dead letter may not say which project it is of, so there is a list for all projects.
    """
    from trackrecord.queries import dead_letters
    from trackrecord.times import iso

    settings, _ = settings_for(None)
    with open_redis(settings) as client:
        letters, is_more = dead_letters.list_letters(
            client, settings.keys, limit=limit, at=at, order=order
        )
        total = dead_letters.count_letters(client, settings.keys) if is_more else len(letters)
    if as_json:
        print_json([letter.to_document() for letter in letters])
        return
    if not letters:
        click.echo("no dead letters")
        return
    print_table(
        ("id", "set aside", "reason", "body"),
        ((letter.id, iso(letter.set_aside_at), _reason(letter), letter.body) for letter in letters),
    )
    # Redis counts the letters of a stream, not those up to a moment.
    say_more(total - len(letters), "dead letters", is_exact=at is None)


@command.command("replay")
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=complete("letter"))
@click.option("--all", "everything", is_flag=True, help="Put all dead letters back.")
def replay(ids: tuple[str, ...], *, everything: bool) -> None:
    """Put dead letters back into the stream, after their cause has been mended."""
    from trackrecord.changes.dead_letters import replay_letters

    wanted = _wanted(ids, everything=everything)
    settings, _ = settings_for(None)
    with open_redis(settings) as client:
        count = replay_letters(client, settings.keys, wanted)
    click.echo(f"{count} put back into the stream")


@command.command("discard")
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=complete("letter"))
@click.option("--all", "everything", is_flag=True, help="Delete all dead letters.")
def discard(ids: tuple[str, ...], *, everything: bool) -> None:
    """Delete dead letters for good."""
    from trackrecord.changes.dead_letters import discard_letters

    wanted = _wanted(ids, everything=everything)
    settings, _ = settings_for(None)
    with open_redis(settings) as client:
        count = discard_letters(client, settings.keys, wanted)
    click.echo(f"{count} discarded")


def _reason(letter: DeadLetter) -> str:
    if letter.cut_from_bytes is None:
        return letter.reason
    return f"{letter.reason}; cut from {letter.cut_from_bytes:,} bytes, cannot be replayed"


def _wanted(ids: tuple[str, ...], *, everything: bool) -> tuple[str, ...] | None:
    """Return the ids; None for all letters."""
    if everything == bool(ids):
        message = "name the ids of dead letters, or give --all"
        raise click.UsageError(message)
    return None if everything else ids
