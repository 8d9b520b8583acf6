"""A real pseudo-terminal, and a command that runs on it."""

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from types import TracebackType

PATIENCE_S = 100.0
_TYPED_EVERY_S = 3.0


class Terminal:
    """The command line on a terminal of its own.

    Args:
        arguments: of `trackrecord`.
        rows: the height of the terminal.
        columns: its width.
        program: what is run instead of `trackrecord`.
        environment: variables that differ from those of this process.
    """

    def __init__(
        self,
        *arguments: object,
        rows: int = 40,
        columns: int = 100,
        program: tuple[str, ...] = (sys.executable, "-m", "trackrecord_cli"),
        **environment: str,
    ) -> None:
        self.shown = ""
        # A letter may be cut in two by the reading.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._main, other = pty.openpty()
        self.resize(rows, columns)
        os.set_blocking(self._main, False)
        given = {**os.environ, "TERM": "xterm-256color", **environment}
        given = {name: value for name, value in given.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [*program, *map(str, arguments)],
            stdin=other,
            stdout=other,
            stderr=other,
            env=given,
            start_new_session=True,
            preexec_fn=_take_the_terminal,
        )
        os.close(other)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._main)

    def resize(self, rows: int, columns: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        """Type a text; U+0003 is Ctrl-C."""
        os.write(self._main, text.encode())

    def wait_for(self, text: str) -> str:
        """Return what is shown from now on until a text is; what was shown before is forgotten."""
        self.shown = ""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} is not shown:\n{self.shown}"
            if not self._read() and self.process.poll() is not None:
                self._read()
                assert text in self.shown, f"ended without {text!r}:\n{self.shown}"
        return self.shown

    def type_until(self, key: str, text: str) -> None:
        """Type a key again and again until a text is shown."""
        self.shown = ""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} is not shown:\n{self.shown}"
            self.type(key)
            until = time.monotonic() + _TYPED_EVERY_S
            while text not in self.shown and time.monotonic() < until:
                self._read()

    def wait(self) -> int:
        """Return the exit status; what was shown until then is in `shown`."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it has not ended:\n{self.shown}"
            self._read()
        while self._read():
            pass
        return self.process.returncode

    def _read(self) -> bool:
        ready, _, _ = select.select([self._main], [], [], 0.1)
        try:
            piece = os.read(self._main, 65536) if ready else b""
        except OSError:  # how Linux ends the reading side
            return False
        self.shown += self._decoder.decode(piece)
        return bool(piece)


def let_ctrl_c_through() -> None:
    """End at Ctrl-C also where these tests run in the background of a shell, which ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _take_the_terminal() -> None:
    let_ctrl_c_through()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
