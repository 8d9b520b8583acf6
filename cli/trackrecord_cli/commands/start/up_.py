"""`trackrecord up`: everything in the foreground."""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from types import FrameType

import click

from trackrecord.errors import AddressUnusable
from trackrecord.process.late_log import configure_late
from trackrecord.redis.passwords import DEFAULT_USER, password_file
from trackrecord.settings.agent_settings import gone_remark
from trackrecord.settings.daemon_settings import DaemonSettings, load_daemon_settings
from trackrecord_door.protocol.listening import (
    ask_in_home,
    check_access,
    describe,
    has_answered,
    listen,
    listen_in_home,
)
from trackrecord_worker.up.daemon import Daemon, call_apart
from trackrecord_worker.up.log_relay import LogFile

HTTP_MODULE = "trackrecord_door"
_WATCH_S = 60.0
# An exporter waits two seconds for its first answer: `up` is not up before it can have it.
_LOOK_S = 0.05
_LONGEST_START_S = 30.0
_LOG = "up.log"


@click.command("up")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Let the embedded Redis listen on this loopback port, too, with a password that is made "
    "once.  [default: none]",
)
@click.option("--no-http", is_flag=True, help="Run everything but the HTTP server.")
def command(port: int, no_http: bool) -> None:
    """Run everything in the foreground; Ctrl-C or SIGTERM stops it cleanly.

    It starts an embedded Redis, unless TRACKRECORD_REDIS_URL names a server, a worker that learns,
    the schedule of the nightly job, and the HTTP server that agents report to and people look at.
    That listens on the port that the setting TRACKRECORD_HTTP__PORT names.
    """
    settings = load_daemon_settings()
    environment = call_apart(_environment)
    # The details of this process, which only waits, are not for people.
    is_detailed = settings.log_level == "debug" and sys.stderr.isatty()
    configure_late("info" if is_detailed else settings.log_level)
    if not no_http:
        check_access(settings.http, partial(_has_tokens, settings))
    stopping = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    with (
        _log_of(settings) as log,
        Daemon(settings, environment=environment, port=port, log=log, stopping=stopping) as daemon,
    ):
        # Closed before the processes are stopped: what comes later is refused at once.
        with contextlib.nullcontext() if no_http else _http(daemon, settings, stopping) as http:
            if not stopping.is_set():
                _say_where(settings, port)
                log_line = f"log: {settings.home / _LOG}" if log is not None else None
                for line in (log_line, http, gone_remark()):
                    if line is not None:
                        click.echo(line, err=True)
            while not stopping.is_set():
                daemon.watch(_WATCH_S)
        click.echo("stopping", err=True)


def _environment() -> dict[str, str]:
    """Return the variables with the settings of this process."""
    from trackrecord.settings.settings import load_settings

    return load_settings().as_environment()


def _has_tokens(settings: DaemonSettings) -> bool:
    from trackrecord_door.access.tokens import has_tokens

    return call_apart(has_tokens, settings)


@contextlib.contextmanager
def _log_of(settings: DaemonSettings) -> Iterator[LogFile | None]:
    """Yield the file for the log where standard error is a terminal, which is for people."""
    if not sys.stderr.isatty():
        yield None
        return
    with contextlib.closing(LogFile(settings.home / _LOG)) as log:
        yield log


def _say_where(settings: DaemonSettings, port: int) -> None:
    # The socket's address, not the setting: that may hold a password.
    own = settings.redis_url is None
    address = settings.effective_redis_url if own else "as configured"
    click.echo(f"trackrecord is up in {settings.home}", err=True)
    if own and port:
        file = password_file(settings.embedded_redis_folder, DEFAULT_USER)
        address += f", 127.0.0.1:{port} (its password is in {file})"
    click.echo(f"Redis: {address}", err=True)


@contextlib.contextmanager
def _http(daemon: Daemon, settings: DaemonSettings, stopping: threading.Event) -> Iterator[str]:
    """Start the HTTP server; yield where it is once it answers, or why there is none.

    Its sockets stay open while it is started again.
    """
    with contextlib.ExitStack() as opened:
        try:
            listener = opened.enter_context(listen(settings.http, partial(_has_tokens, settings)))
            in_home = opened.enter_context(listen_in_home(settings.home))
        except AddressUnusable as error:
            yield f"trackrecord: {error}; going on without HTTP"
            return
        descriptors = [listener.fileno(), in_home.fileno()]
        daemon.accompany("http", [HTTP_MODULE, *map(str, descriptors)], descriptors)
        answer = opened.enter_context(ask_in_home(settings.home))
        deadline = time.monotonic() + _LONGEST_START_S
        while not (stopping.is_set() or time.monotonic() > deadline or has_answered(answer)):
            daemon.watch(_LOOK_S)
        yield describe(listener, settings.http)
