"""`trackrecord notify`: the messages of the command."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

import click

from trackrecord.errors import EndpointAway, SettingsError

from ...access import open_redis, settings_for
from ...arguments.options import json_option, limit_option
from ...group import CommandGroup
from ...output.screen import print_json, print_table, say_more

if TYPE_CHECKING:
    from trackrecord.settings.daemon_settings import DaemonSettings

_NOT_SET = "nobody is told: set TRACKRECORD_NOTIFY__COMMAND"


@click.group("notify", cls=CommandGroup)
def command() -> None:
    """Show what your command is still to be told, and try it out."""


@command.command("test")
@json_option
def test(*, as_json: bool) -> None:
    """Send a test message to the command, and say whether it took it.

    Exit status 1: it did not take it.
    """
    from trackrecord_worker.notify.command import MessageRefused, tell
    from trackrecord_worker.notify.message import example_message

    settings = _settings()
    problem = None
    try:
        body = example_message(now=time.time())
        tell(settings.notify, f"msg_test-{secrets.token_hex(8)}", body)
    except (MessageRefused, EndpointAway) as error:
        problem = str(error)
    if as_json:
        print_json({"problem": problem})
    else:
        click.echo(problem or "the command took the test message")
    if problem:
        click.get_current_context().exit(1)


@command.command("waiting")
@limit_option("messages", default=100)
@json_option
def waiting(limit: int, *, as_json: bool) -> None:
    """List the messages that are still to be told, the oldest first."""
    import msgspec

    from trackrecord.learning.text.times import iso
    from trackrecord_worker.notify.outbox import Outbox

    settings = _settings()
    with open_redis(settings) as client:
        outbox = Outbox(client, settings.keys)
        found = outbox.waiting(limit=limit)
        beyond = max(0, outbox.count() - len(found))
    documents = [
        {"noted_at": iso(each.noted_at), **msgspec.json.decode(each.body)} for each in found
    ]
    if as_json:
        print_json(documents)
        return
    if not documents:
        click.echo("nothing is waiting: all was told")
        return
    print_table(
        ("noted at", "type", "text"),
        ((each["noted_at"], each["type"], each["data"]["text"]) for each in documents),
        about="text",
        secondary=("noted at", "type"),
    )
    say_more(beyond, "messages")


def _settings() -> DaemonSettings:
    settings, _ = settings_for(None)
    if not settings.notify.command:
        raise SettingsError(_NOT_SET)
    return settings
