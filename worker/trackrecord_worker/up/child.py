"""A child process of `up`: start it, watch it, restart it, end it."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence

from trackrecord.errors import KeepsEnding
from trackrecord.process.late_log import LateLog
from trackrecord.process.python_command import python_command

from .log_relay import LogRelay, LogTarget
from .restarts import Restarts

_log = LateLog(__name__)

# Logs and all other files of a child are for its owner alone.
_UMASK = 0o077
# A warm shutdown waits for the drain at hand, which takes a slice of a few seconds.
_STOP_TIMEOUT_S = 30.0
# The processes of a killed worker hold its log open until they notice.
_LAST_WORDS_S = 0.5
# Celery puts the working folder in front of `sys.path`, and a person may start `up` in any folder:
# no file there may be imported. Nobody but root can write into this one.
_WORKING_FOLDER = "/"


class Child:
    """One child process.

    Args:
        name: for logs and messages.
        command: the name of a module, and the arguments for it.
        environment: its complete environment variables.
        log: the file for its log; standard error when not given.
        descriptors: of files that it inherits.
        is_needed: whether `up` ends when it keeps ending.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: dict[str, str],
        log: LogTarget | None,
        *,
        descriptors: Sequence[int] = (),
        is_needed: bool = True,
    ) -> None:
        self.name = name
        self._descriptors = descriptors
        self._command = command
        self._environment = environment
        self._log_file = log
        self._process: subprocess.Popen[bytes] | None = None
        self._relay: LogRelay | None = None
        self._restarts = Restarts(is_needed)
        self._started_at = 0.0
        self._restart_at: float | None = None

    @property
    def pid(self) -> int | None:
        """Its process id; None before it is started and after it was stopped."""
        return None if self._process is None else self._process.pid

    @property
    def is_running(self) -> bool:
        """Return whether the child runs."""
        return self._process is not None and self._process.poll() is None

    def start(self, lock: int) -> None:
        """Start it, in a process group of its own: Ctrl-C is for `up`, which stops it in order.

        Args:
            lock: the descriptor of a lock that it holds for as long as it lives.
        """
        command = python_command("trackrecord_worker.up.up_child", str(os.getpid()))
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            [*command, *self._command],
            env=self._environment,
            cwd=_WORKING_FOLDER,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(lock, *self._descriptors),
            umask=_UMASK,
        )
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        self._relay = LogRelay(self._process.stdout, self._log_file)
        self._started_at = time.monotonic()
        self._restart_at = None

    def revive(self, lock: int, *, was_up: bool) -> bool:
        """Start it again if it has ended and its pause is over; return whether it was started.

        Args:
            lock: as for `start`.
            was_up: whether everything had been up before.

        Raises:
            KeepsEnding: it has ended too often; the message names the cause.
        """
        if self._process is None or self._process.poll() is None:
            return False
        if self._restart_at is None:
            self._note_end(was_up=was_up)
        if self._restart_at is None or time.monotonic() < self._restart_at:
            return False
        self.start(lock)
        return True

    def complaint(self) -> str:
        """Return the last error line in its log."""
        return "" if self._relay is None else self._relay.last_complaint()

    def terminate(self) -> None:
        """Ask it to end."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self) -> None:
        """Wait until it has ended; kill it and all that it started when that takes too long."""
        if self._process is None:
            return
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._finish()

    def kill(self) -> None:
        """End it, and all that it started, at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._finish()

    def _finish(self) -> None:
        if self._relay is not None:
            self._relay.finish(_STOP_TIMEOUT_S)
        self._process = None

    def _note_end(self, *, was_up: bool) -> None:
        assert self._process is not None  # noqa: S101 - it has ended
        if self._relay is not None:
            self._relay.finish(_LAST_WORDS_S)
        status = self._process.returncode
        lived_s = time.monotonic() - self._started_at
        pause_s = self._restarts.note_end(lived_s=lived_s, was_up=was_up)
        if pause_s is None:
            raise KeepsEnding(self._why(status))
        _log.error("child_ended", child=self.name, status=status, again_in_s=pause_s)
        self._restart_at = time.monotonic() + pause_s

    def _why(self, status: int) -> str:
        cause = self.complaint() or f"its exit status is {status}, and its log does not say why"
        return f"the {self.name} cannot run, it ended {self._restarts.ends} times: {cause}"
