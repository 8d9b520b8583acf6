"""`trackrecord dead`: outcomes that could not be learnt."""

from collections.abc import Iterator
from typing import Any

import click
import redis

from trackrecord.errors import UnknownId
from trackrecord.redis_keys import Keys
from trackrecord.settings import load_settings
from trackrecord.times import iso

from ..access import open_redis
from ..options import at_option, json_option
from ..screen import print_json, print_table

# What we added when we set an entry aside.
_OURS = (b"reason", b"entry_id")
_PAGE = 500
# Enough of a body to recognise it by.
_SHOWN_CHARS = 200


@click.group("dead")
def command() -> None:
    """Dead letters: outcomes that could not be learnt, each with its reason."""


@command.command("list")
@json_option
@at_option
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True)
def list_letters(limit: int, at: float | None, *, as_json: bool) -> None:
    """The oldest dead letters.

    With --at, of those that are still there: what had been set aside by then.
    """
    settings = load_settings()
    until = "+" if at is None else str(int(at * 1000))
    with open_redis(settings) as client:
        answer: Any = client.xrange(settings.keys.dead, max=until, count=limit + 1)
    letters = [_as_document(letter_id, fields) for letter_id, fields in answer[:limit]]
    if as_json:
        print_json(letters)
        return
    if not letters:
        click.echo("no dead letters")
        return
    print_table(
        ("id", "set aside", "reason", "body"),
        (
            (each["id"], each["set_aside_at"], each["reason"], each["body"][:_SHOWN_CHARS])
            for each in letters
        ),
    )
    if len(answer) > limit:
        click.echo("there are more; --limit shows them")


@command.command("replay")
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All of them.")
def replay(ids: tuple[str, ...], *, everything: bool) -> None:
    """Put dead letters back into the stream, after what was wrong has been mended."""
    settings = load_settings()
    with open_redis(settings) as client:
        count = 0
        for letter_id, fields in _wanted(client, settings.keys, ids, everything=everything):
            original: dict[Any, Any] = {
                name: value for name, value in fields.items() if name not in _OURS
            }
            # One step: in the stream or among the dead letters, never both or none.
            with client.pipeline(transaction=True) as pipe:
                pipe.xadd(settings.keys.outcomes, original or {b"v": b""})
                pipe.xdel(settings.keys.dead, letter_id)
                pipe.execute()
            count += 1
    click.echo(f"{count} put back into the stream")


@command.command("discard")
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All of them.")
def discard(ids: tuple[str, ...], *, everything: bool) -> None:
    """Throw dead letters away for good."""
    settings = load_settings()
    with open_redis(settings) as client:
        count = 0
        for letter_id, _ in _wanted(client, settings.keys, ids, everything=everything):
            count += int(client.xdel(settings.keys.dead, letter_id))
    click.echo(f"{count} discarded")


def _wanted(
    client: redis.Redis, keys: Keys, ids: tuple[str, ...], *, everything: bool
) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    if everything == bool(ids):
        message = "name the ids of dead letters, or --all"
        raise click.UsageError(message)
    if everything:
        yield from _all(client, keys)
        return
    letters = [(each, _letter(client, keys, each)) for each in ids]
    for each, fields in letters:
        yield each.encode(), fields


def _letter(client: redis.Redis, keys: Keys, letter_id: str) -> dict[bytes, bytes]:
    try:
        answer: Any = client.xrange(keys.dead, min=letter_id, max=letter_id)
    except redis.ResponseError:
        answer = []
    if not answer:
        message = f"no dead letter {letter_id!r}; `trackrecord dead list` shows them"
        raise UnknownId(message)
    fields: dict[bytes, bytes] = answer[0][1]
    return fields


def _all(client: redis.Redis, keys: Keys) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    """All that are there now; those that come back meanwhile are left for the next time."""
    newest: Any = client.xrevrange(keys.dead, count=1)
    if not newest:
        return
    start = "-"
    while True:
        page: Any = client.xrange(keys.dead, min=start, max=newest[0][0], count=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        start = "(" + page[-1][0].decode()


def _as_document(letter_id: bytes, fields: dict[bytes, bytes]) -> dict[str, Any]:
    text = {name.decode(errors="replace"): _text(value) for name, value in fields.items()}
    milliseconds = int(letter_id.split(b"-")[0])
    return {
        "id": letter_id.decode(),
        "set_aside_at": iso(milliseconds / 1000),
        "reason": text.pop("reason", ""),
        "entry_id": text.pop("entry_id", ""),
        "body": text.pop("body", ""),
        "fields": text,
    }


def _text(value: bytes) -> str:
    """Bytes as text; what is no UTF-8 is shown escaped, so that nothing is lost to the eye."""
    return value.decode(errors="backslashreplace")
