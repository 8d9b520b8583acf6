"""`trackrecord serve`: the HTTP server alone."""

from functools import partial

import click

from trackrecord.process.logs import configure_logs
from trackrecord.settings.daemon_settings import load_daemon_settings


@click.command("serve")
def command() -> None:
    """Serve HTTP alone: traces, logs and hooks of agents become outcomes.

    `trackrecord up` does so already. This is for a machine on which nothing else of trackrecord
    runs: outcomes go to the Redis that TRACKRECORD_REDIS_URL names, and to the spool while it is
    away. Ctrl-C or SIGTERM stops it cleanly.
    """
    settings = load_daemon_settings()
    configure_logs(settings.log_level)
    # After the settings: a mistake in them is told at once.
    from trackrecord_door.access.tokens import has_tokens, with_own_token
    from trackrecord_door.protocol.listening import describe, listen, listen_in_home
    from trackrecord_door.query_service import QueryService
    from trackrecord_door.server import serve
    from trackrecord_door.services import create_intake

    with (
        listen(settings.http, partial(has_tokens, settings)) as listener,
        listen_in_home(settings.home) as in_home,
    ):
        settings = with_own_token(settings)
        intake = create_intake(settings, listener)
        click.echo(describe(listener, settings.http), err=True)
        serve([listener, in_home], settings.http, intake, QueryService(settings))
