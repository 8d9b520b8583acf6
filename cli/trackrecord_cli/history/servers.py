"""The servers that an import needs: those that run, else its own for as long as it takes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import IO, NoReturn

from trackrecord.errors import AlreadyRunning, ServerUnavailable
from trackrecord.process.folders import make_private_folder
from trackrecord.process.logs import configure_logs
from trackrecord.settings.settings import Settings
from trackrecord_worker.up.daemon import Daemon

from ..access import open_redis

_LOG = "import.log"
# An `up` that was started at the same moment takes a while until its Redis answers.
_STARTING_S = 60.0
_POLL_S = 0.2


@contextmanager
def servers_for(settings: Settings) -> Iterator[bool]:
    """Make sure that outcomes can be published and learnt; yield whether servers were started.

    Where Redis answers, whatever runs is used. Where none is configured and none runs, an embedded
    Redis, a worker and beat are started, and stopped at the end, also on Ctrl-C and SIGTERM.

    Raises:
        ServerUnavailable: the configured Redis cannot be reached, or the servers do not start.
    """
    # What the import consolidates tells of itself in the log, and an answer must stand alone.
    configure_logs("error")
    if _answers(settings):
        yield False
        return
    if settings.redis_url is not None:
        with open_redis(settings):  # raises what is wrong with it
            pass
    make_private_folder(settings.home)
    with ExitStack() as stack:
        log = stack.enter_context(_open_log(settings))
        _interrupt_on_sigterm(stack)
        try:
            daemon = Daemon(settings, log=log)
            daemon.start()
        except AlreadyRunning:
            _wait_for_redis(settings)
            yield False
            return
        stack.callback(_stop_undisturbed, daemon.stop)
        yield True


def _open_log(settings: Settings) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    return os.fdopen(os.open(settings.home / _LOG, flags, 0o600), "wb")


def _answers(settings: Settings) -> bool:
    try:
        with open_redis(settings):
            return True
    except ServerUnavailable:
        return False


def _wait_for_redis(settings: Settings) -> None:
    deadline = time.monotonic() + _STARTING_S
    while not _answers(settings):
        if time.monotonic() > deadline:
            with open_redis(settings):
                return
        time.sleep(_POLL_S)


def _interrupt_on_sigterm(stack: ExitStack) -> None:
    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, interrupt))


def _stop_undisturbed(stop: Callable[[], None]) -> None:
    """Stop the servers; a second Ctrl-C must not leave any of them behind."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    terminated = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        stop()
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, terminated)
