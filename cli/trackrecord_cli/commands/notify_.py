"""`trackrecord notify`: the messages of the webhook and the command."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

import click

from trackrecord.errors import EndpointAway, SettingsError

from ..access import open_redis, settings_for
from ..group import CommandGroup
from ..options import json_option, limit_option
from ..screen import print_json, print_table, say_more

if TYPE_CHECKING:
    from trackrecord.daemon_settings import DaemonSettings

_NOT_SET = (
    "nobody is told: set TRACKRECORD_NOTIFY__URL and TRACKRECORD_NOTIFY__SECRET, or "
    "TRACKRECORD_NOTIFY__COMMAND"
)


@click.group("notify", cls=CommandGroup)
def command() -> None:
    """Show what your webhook or command is still to be told, and try them out."""


@command.command("test")
@json_option
def test(*, as_json: bool) -> None:
    """Send a test message to the webhook and the command, and say whether each took it.

    Exit status 1: one of them did not take it.
    """
    from trackrecord_worker.notify.channels import MessageRefused, channel_of
    from trackrecord_worker.notify.message import example_message

    settings = _settings()
    results: dict[str, str | None] = {}
    for name in settings.notify.channels:
        body = example_message(now=time.time())
        try:
            channel_of(name, settings.notify).tell(f"msg_test-{secrets.token_hex(8)}", body)
        except (MessageRefused, EndpointAway) as error:
            results[name] = str(error)
        else:
            results[name] = None
    if as_json:
        print_json([{"channel": name, "problem": said} for name, said in results.items()])
    else:
        for name, said in results.items():
            click.echo(f"{name}: " + (said or "took the test message"))
    if any(results.values()):
        click.get_current_context().exit(1)


@command.command("waiting")
@limit_option("messages", default=100)
@json_option
def waiting(limit: int, *, as_json: bool) -> None:
    """List the messages that are still to be told, the oldest first."""
    import msgspec

    from trackrecord.times import iso
    from trackrecord_worker.notify.outbox import Outbox

    settings = _settings()
    beyond = 0
    documents = []
    with open_redis(settings) as client:
        outbox = Outbox(client, settings.keys)
        for name in settings.notify.channels:
            found = outbox.waiting(name, limit=limit)
            beyond += max(0, outbox.count(name) - len(found))
            documents += [
                {"channel": name, "noted_at": iso(each.noted_at), **msgspec.json.decode(each.body)}
                for each in found
            ]
    if as_json:
        print_json(documents)
        return
    if not documents:
        click.echo("nothing is waiting: all was told")
        return
    print_table(
        ("channel", "noted at", "type", "text"),
        ((each["channel"], each["noted_at"], each["type"], each["data"]["text"])
         for each in documents),
    )  # fmt: skip
    say_more(beyond, "messages")


def _settings() -> DaemonSettings:
    settings, _ = settings_for(None)
    if not settings.notify.channels:
        raise SettingsError(_NOT_SET)
    return settings
