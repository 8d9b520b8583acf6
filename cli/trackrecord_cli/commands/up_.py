"""`trackrecord up`: everything in the foreground."""

import signal
import threading
from types import FrameType

import click

from trackrecord.logs import configure_logs
from trackrecord.settings import load_settings
from trackrecord_worker.daemon import Daemon


@click.command("up")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Let the embedded Redis listen on this loopback port, too.  [default: none]",
)
def command(port: int) -> None:
    """Run everything in the foreground; Ctrl-C or SIGTERM stops it cleanly.

    An embedded Redis unless TRACKRECORD_REDIS_URL names one, a worker, and beat.
    """
    settings = load_settings()
    configure_logs(settings.log_level)
    stopping = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    with Daemon(settings, port=port, stopping=stopping) as daemon:
        if not stopping.is_set():
            # The socket's address, not the setting: that may hold a password.
            own = settings.redis_url is None
            address = settings.effective_redis_url if own else "as configured"
            click.echo(f"trackrecord is up in {settings.home}", err=True)
            click.echo(f"Redis: {address}" + (f", 127.0.0.1:{port}" if port else ""), err=True)
        while not stopping.is_set():
            daemon.watch(0.5)
        click.echo("stopping", err=True)
