"""A Redis server of our own, for machines where none is configured.

It keeps an append-only file that is synced before a write is answered, so that what an agent
published survives even a killed server. It listens on a socket in TRACKRECORD_HOME that only the
owner can open, and on loopback, with a password, only when a port is asked for.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import socket
import stat
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Self, TextIO

from trackrecord.errors import ServerUnavailable, SettingsError
from trackrecord.process.folders import make_private_folder, open_private
from trackrecord.process.late_log import LateLog
from trackrecord.redis.passwords import ADMIN_USER, DEFAULT_USER, password_file
from trackrecord.redis.roles import ADMIN_RULES, EMBEDDED_RULES

from . import child_lifetime
from .server_binary import ServerBinary, find_servers

if TYPE_CHECKING:
    import redis


_FILE = "users.acl"
_PASSWORD_BYTES = 32


def write_users(folder: Path, *, has_port: bool) -> Path:
    """Write the ACL file of the embedded server; make the passwords that are missing.

    On its socket, which its owner alone can open, the default user needs no password; on a port it
    does. Commands that take over a server are the admin's alone.

    Args:
        folder: the server's folder.
        has_port: whether the server listens on a port.

    Raises:
        OSError: a file cannot be written.
    """
    password = _password(password_file(folder, DEFAULT_USER))
    admin = _password(password_file(folder, ADMIN_USER))
    entrance = _digest(password) if has_port else "nopass"
    file = folder / _FILE
    _write(
        file,
        f"user {DEFAULT_USER} reset on {entrance} {EMBEDDED_RULES}\n"
        f"user {ADMIN_USER} reset on {_digest(admin)} {ADMIN_RULES}\n",
    )
    return file


def _digest(password: str) -> str:
    return f"#{sha256(password.encode()).hexdigest()}"


def _password(file: Path) -> str:
    """Return the password in a file; make a new one unless it is a secret of its owner's."""
    try:
        entry = file.lstat()
        is_secret = stat.S_ISREG(entry.st_mode) and not stat.S_IMODE(entry.st_mode) & 0o077
        if is_secret and entry.st_uid == os.geteuid():
            password = file.read_text(encoding="ascii").strip()
            if len(password) == 2 * _PASSWORD_BYTES and password.isalnum():
                return password
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    password = secrets.token_hex(_PASSWORD_BYTES)
    _write(file, password + "\n")
    return password


def _write(file: Path, text: str) -> None:
    """Replace a file as a whole, by one that its owner alone can read."""
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as writing:
        writing.write(text)
        writing.flush()
        os.fsync(writing.fileno())
    new.replace(file)


_log = LateLog(__name__)

# A socket's path must fit into sockaddr_un: 107 bytes on Linux, 103 on macOS.
_LONGEST_SOCKET_PATH = 103
_START_TIMEOUT_S = 30.0
_STOP_TIMEOUT_S = 30.0
_ANSWER_TIMEOUT_S = 5.0
# Where Redis keeps its append-only files from 7.0 on, and what the first of them begins with.
_FOLDER = "appendonlydir"
_SINCE_FOLDER = (7, 0, 0)
_WRITER = re.compile(rb"(redis|valkey)-ver.([0-9.]+)", re.DOTALL)
_HEAD_BYTES = 64
_LEAST_MEMORY = 256 * 1024 * 1024
_MOST_MEMORY = 4 * 1024 * 1024 * 1024


def _share_of_memory() -> int:
    """Return a quarter of the memory of the machine, or of the container, within bounds."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with contextlib.suppress(OSError, ValueError):  # ValueError: it is "max", or not Linux's
        known.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(_MOST_MEMORY, max(_LEAST_MEMORY, min(known) // 4))


def _encoded(*command: str) -> bytes:
    words = (word.encode() for word in command)
    return b"*%d\r\n" % len(command) + b"".join(
        b"$%d\r\n%s\r\n" % (len(each), each) for each in words
    )


def _writer(file: Path) -> str:
    """Return the server that wrote a file of data, as its first bytes name it; empty if not."""
    with file.open("rb") as data:
        found = _WRITER.search(data.read(_HEAD_BYTES))
    return f"{found[1].decode().capitalize()} {found[2].decode()}" if found else ""


class EmbeddedRedis:
    """A Redis server that this process starts and stops.

    Args:
        folder: the folder for its data; made if missing.
        socket: the Unix socket it listens on.
        port: a loopback port to listen on too, with a password; 0 for none.
        max_memory: the bytes that it may hold; a share of the machine's memory when not given.
    """

    def __init__(
        self, folder: Path, socket: Path, *, port: int = 0, max_memory: int | None = None
    ) -> None:
        if len(str(socket).encode()) > _LONGEST_SOCKET_PATH:
            message = (
                f"the path of the embedded Redis's socket is too long ({socket}): "
                "choose a shorter TRACKRECORD_HOME, or set TRACKRECORD_REDIS_URL"
            )
            raise SettingsError(message)
        self.folder = folder
        self.socket = socket
        self.port = port
        self._max_memory = max_memory or _share_of_memory()
        self._log_file = folder / "redis.log"
        self.process: subprocess.Popen[bytes] | None = None

    def client(self) -> redis.Redis:
        """Return the admin's client, which does not retry, to notice at once a server that is down.

        Agents and workers are another user, without the commands that take over a server.
        """
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        from trackrecord.redis.client import EmbeddedCredentials

        return redis.Redis(
            unix_socket_path=str(self.socket),
            credential_provider=EmbeddedCredentials(self.folder, ADMIN_USER),
            socket_timeout=5,
            retry=Retry(NoBackoff(), 0),
        )

    @property
    def has_ended(self) -> bool:
        """Return whether the started or adopted server has ended."""
        if self.process is None:
            return not self.is_answering()
        return self.process.poll() is not None

    def is_answering(self) -> bool:
        """Return whether a server responds on the socket, ours or one that outlived its `up`."""
        try:
            return self._ask("PING") == [b"+PONG"]
        except OSError:
            return False

    def _ask(self, *command: str) -> list[bytes]:
        """Return the lines of the server's answer to the admin, none if it ends at that.

        Without redis-py, which would take more memory than all else that `up` needs.

        Raises:
            OSError: the server cannot be reached, or refuses the admin's password.
        """
        password = password_file(self.folder, ADMIN_USER).read_text(encoding="ascii").strip()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_ANSWER_TIMEOUT_S)
            connection.connect(str(self.socket))
            connection.sendall(_encoded("AUTH", ADMIN_USER, password) + _encoded(*command))
            with connection.makefile("rb") as answers:
                said = answers.readline().rstrip()
                if said != b"+OK":
                    raise ConnectionError(said.decode(errors="replace"))
                first = answers.readline().rstrip()
                # An array holds texts alone here, each after a line with its length.
                more = 2 * int(first[1:]) if first.startswith(b"*") else 0
                return [
                    line
                    for line in (first, *(answers.readline().rstrip() for _ in range(more)))
                    if line
                ]

    def start(self) -> None:
        """Start the server, or adopt one that runs already, and wait until it responds.

        Raises:
            ServerUnavailable: the server does not start.
        """
        make_private_folder(self.socket.parent)
        make_private_folder(self.folder)
        with open_private(self.folder / "redis.lock") as lock:
            if not self._adopts(lock):
                self._check_port()
                self._launch(lock)

    def _launch(self, lock: TextIO) -> None:
        """Start the best server that can read the data; one that cannot ends and changes nothing.

        The newest need not be able to: no Valkey reads what a Redis of 7.4 or newer wrote.
        """
        best, *others = find_servers()
        tried = []
        for server in (best, *(each for each in others if not (self.port and each.is_vulnerable))):
            # An older one does not look into the folder, and would begin with nothing.
            if server.version.number < _SINCE_FOLDER and (self.folder / _FOLDER).exists():
                continue
            self._run(server, lock)
            if self._waits_until_answering():
                return
            tried.append(str(server.version))
        raise ServerUnavailable(self._why_none_runs(best, tried))

    def _run(self, server: ServerBinary, lock: TextIO) -> None:
        self.socket.unlink(missing_ok=True)
        options = {
            "aclfile": str(write_users(self.folder, has_port=bool(self.port))),
            "port": str(self.port),
            "bind": "127.0.0.1",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "logfile": str(self._log_file),
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
            "maxmemory": str(self._max_memory),
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
            # It looks after itself twice a second, not ten times: most of what it costs when idle.
            "hz": "2",
        }
        # Ended by Linux together with this process, even if that is killed.
        command = [sys.executable, "-I", "-S", child_lifetime.__file__, str(os.getpid())]
        command.append(str(server.path))
        for name, value in options.items():
            command += [f"--{name}", value]
        # A session of its own: a Ctrl-C is for `up`, which stops the server after the workers.
        self.process = subprocess.Popen(  # noqa: S603 - our own binary and options
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            umask=0o077,
            # Held for as long as the server lives, whatever becomes of this process.
            pass_fds=(lock.fileno(),),
        )

    def _adopts(self, lock: TextIO) -> bool:
        """Adopt a usable server that outlived its `up`, if any; wait for one that is ending."""
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        while not self.is_answering():
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            if time.monotonic() > deadline:
                message = f"another Redis server uses {self.folder} and does not respond: stop it"
                raise ServerUnavailable(message)
            time.sleep(0.05)
        if self._has_port():
            _log.info("embedded_redis_adopted", socket=str(self.socket))
            return True
        self.stop()
        return self._adopts(lock)

    def _has_port(self) -> bool:
        return int(self._ask("CONFIG", "GET", "port")[-1]) == self.port

    def _check_port(self) -> None:
        if not self.port:
            return
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(("127.0.0.1", self.port))
            except OSError as error:
                message = (
                    f"port {self.port} cannot be used ({error.strerror}): "
                    "choose another one with --port"
                )
                raise ServerUnavailable(message) from None

    def _waits_until_answering(self) -> bool:
        """Return whether the server responds; not if it ends before that."""
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.is_answering():
                return True
            if self.process is not None and self.process.poll() is not None:
                return False
            time.sleep(0.02)
        raise ServerUnavailable(self._does_not_start())

    def _why_none_runs(self, best: ServerBinary, tried: list[str]) -> str:
        """Say which server it takes, if those that were tried could not read the data."""
        said = self._last_line()
        writer = "" if tried else "a server of 7.0 or newer"
        for file in (self.folder / _FOLDER).glob("*.base.rdb"):
            if not tried or file.name in said:
                writer = _writer(file) or writer
        if not writer or writer in tried:
            return self._does_not_start()
        extra = "" if writer.startswith("Redis") else ", as trackrecord[embedded] brings"
        return (
            f"{best.version} ({best.path}) cannot read the embedded Redis's data, which {writer} "
            f"wrote: install that or a newer one of its kind{extra}; nothing in {self.folder} "
            "was changed"
        )

    def _does_not_start(self) -> str:
        last_line = self._last_line()
        reason = f" ({last_line})" if last_line else ""
        return f"the embedded Redis does not start{reason}; see {self._log_file}"

    def _last_line(self) -> str:
        try:
            lines = self._log_file.read_text(errors="replace").splitlines()
        except OSError:
            return ""
        # A line is: process, role and time, a hash sign, the message.
        return lines[-1].partition(" # ")[2] or lines[-1] if lines else ""

    def stop(self) -> None:
        """Stop the server after it has written everything down."""
        with contextlib.suppress(OSError):
            self._ask("SHUTDOWN", "NOSAVE")
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_STOP_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
