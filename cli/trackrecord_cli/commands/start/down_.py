"""`trackrecord down`: the end of what `trackrecord up` started."""

import click

from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord_worker.up.home_lock import stop_up
from trackrecord_worker.up.service import service_of

_NO = 1


@click.command("down")
def command() -> int:
    """Stop what `trackrecord up` runs in the home, and wait until it has ended.

    It ends in order, as with Ctrl-C: what was received is learnt or waits for the next start. Exit
    status 1 means that nothing ran.
    """
    home = load_daemon_settings().home
    stopped = stop_up(home)
    if stopped is None:
        click.echo(f"nothing runs in {home}", err=True)
        return _NO
    click.echo(f"stopped in {home} ({stopped})", err=True)
    if service_of(home).is_installed:
        click.echo(
            "its service starts it at your next login; `trackrecord uninstall --service` ends that",
            err=True,
        )
    return 0
