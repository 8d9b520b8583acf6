"""`trackrecord up`: everything, in the foreground or in the background."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from types import FrameType

import click

from trackrecord.errors import AddressUnusable, TrackrecordError
from trackrecord.learning.text.times import iso
from trackrecord.process.late_log import configure_late
from trackrecord.process.python_command import python_command
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
from trackrecord_worker.up.home_lock import running_up
from trackrecord_worker.up.log_relay import LogFile, LogRelay

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
@click.option(
    "--detach",
    is_flag=True,
    help="Run in the background: wait until it is up, say where its log is, and return.",
)
@click.option(
    "--in-background", is_flag=True, hidden=True, help="Write all to the log once it is up."
)
def command(port: int, *, no_http: bool, detach: bool, in_background: bool) -> int:
    """Run everything in the foreground, until Ctrl-C, or in the background.

    It starts an embedded Redis, unless TRACKRECORD_REDIS_URL names a server, a worker that learns,
    the schedule of the nightly job, and the HTTP server that agents report to and people look at.
    That listens on the port that the setting TRACKRECORD_HTTP__PORT names. Ctrl-C, SIGTERM and
    `trackrecord down` stop it cleanly, and so does the end of its terminal; with --detach it goes
    on without one.
    """
    settings = load_daemon_settings()
    if detach:
        return _detach(settings, port, no_http=no_http)
    environment = call_apart(_environment)
    # The details of this process, which only waits, are not for people.
    is_detailed = settings.log_level == "debug" and sys.stderr.isatty()
    configure_late("info" if is_detailed else settings.log_level)
    if not no_http:
        check_access(settings.http, partial(_has_tokens, settings))
    stopping = threading.Event()
    _stop_at_signals(stopping)
    with (
        _log_of(settings, in_background=in_background) as log,
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
            if in_background and log is not None:
                _leave(log)
            while not stopping.is_set():
                daemon.watch(_WATCH_S)
        # Its terminal may be gone.
        with contextlib.suppress(OSError):
            click.echo("stopping", err=True)
    return 0


def _stop_at_signals(stopping: threading.Event) -> None:
    """Stop at signals; at SIGHUP unless it is ignored, as `nohup` has it."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, stop)


def _detach(settings: DaemonSettings, port: int, *, no_http: bool) -> int:
    """Start `up` in a session of its own; return its exit status, 0 once it is up."""
    if running := running_up(settings.home):
        since = f" since {iso(running.since)}" if running.since else ""
        click.echo(f"trackrecord runs already in {settings.home}{since} ({running})", err=True)
        return 0
    options = ["--in-background", *(("--port", str(port)) if port else ())]
    options += ["--no-http"] if no_http else []
    process = subprocess.Popen(  # noqa: S603 - our own command
        python_command("trackrecord_cli", "up", *options),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        # It closes this end when it is up, or when it has ended.
        for line in process.stderr or ():
            click.echo(line.decode(errors="replace"), err=True, nl=False)
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(_LOOK_S)
    click.echo("it goes on when this terminal is closed; stop it with `trackrecord down`", err=True)
    return 0


def _leave(log: LogFile) -> None:
    """Log the rest of this process's messages, and let go of the process that started it."""
    reader, writer = os.pipe()
    LogRelay(os.fdopen(reader, "rb"), log)
    os.dup2(writer, 2)
    os.close(writer)


def _environment() -> dict[str, str]:
    """Return the variables with the settings of this process."""
    from trackrecord.settings.settings import load_settings

    return load_settings().as_environment()


def _has_tokens(settings: DaemonSettings) -> bool:
    from trackrecord_door.access.tokens import has_tokens

    return call_apart(has_tokens, settings)


@contextlib.contextmanager
def _log_of(settings: DaemonSettings, *, in_background: bool) -> Iterator[LogFile | None]:
    """Yield the file for the log unless standard error is one; an error that ends `up` is in it."""
    if not in_background and not sys.stderr.isatty():
        yield None
        return
    with contextlib.closing(LogFile(settings.home / _LOG)) as log:
        try:
            yield log
        except TrackrecordError as error:
            if in_background:
                log.write(f"trackrecord: {error}".encode())
            raise


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

    The hooks' socket is served though the port is taken. Sockets stay open while the server is
    started again.
    """
    with contextlib.ExitStack() as opened:
        try:
            listeners = [opened.enter_context(listen_in_home(settings.home))]
        except AddressUnusable as error:
            yield f"trackrecord: {error}; going on without HTTP"
            return
        try:
            tcp = opened.enter_context(listen(settings.http, partial(_has_tokens, settings)))
            listeners.append(tcp)
            said = describe(tcp, settings.http)
        except AddressUnusable as error:
            said = f"trackrecord: {error}; agents' hooks are answered, the page and traces are not"
        descriptors = [each.fileno() for each in listeners]
        daemon.accompany("http", [HTTP_MODULE, *map(str, descriptors)], descriptors)
        answer = opened.enter_context(ask_in_home(settings.home))
        deadline = time.monotonic() + _LONGEST_START_S
        while not (stopping.is_set() or time.monotonic() > deadline or has_answered(answer)):
            daemon.watch(_LOOK_S)
        yield said
