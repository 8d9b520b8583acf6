"""Check the URLs of the servers, without connecting.

redis-py notices most mistakes only when it connects, where an agent would take them for a server
that is away. No message repeats a URL, which may hold a password.
"""

import os
import re
from typing import Any, Final
from urllib.parse import SplitResult, parse_qs, parse_qsl, unquote, urlencode, urlsplit

from trackrecord.process.forking import not_while_forking

_SCHEMES: Final = ("redis", "rediss", "unix")
_MOST_PORT: Final = 65_535
_MOST_TIMEOUT_S: Final = 86_400
# Options that a text can express; redis-py takes the names of its Python objects as well, and fails
# with them later. `protocol` and `decode_responses` change the form of the replies that we read.
_OPTIONS: Final = frozenset(
    {
        "client_name",
        "db",
        "health_check_interval",
        "max_connections",
        "password",
        "retry_on_timeout",
        "socket_connect_timeout",
        "socket_keepalive",
        "socket_timeout",
        "ssl_ca_certs",
        "ssl_ca_path",
        "ssl_cert_reqs",
        "ssl_certfile",
        "ssl_check_hostname",
        "ssl_keyfile",
        "ssl_password",
        "username",
    }
)
_ADDRESS: Final = re.compile(r"(?:\[[^][]+\]|[^][:]*)(?::(?P<port>[0-9]{0,9}))?", re.ASCII)


def checked_redis_url(url: str | None) -> str | None:
    """Return the URL if redis-py can use it; None is the embedded server.

    Raises:
        ValueError: the URL is malformed; one line says in which part.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        message = "the host or the port of the URL is malformed"
        raise ValueError(message) from None
    _require(
        parts.scheme in _SCHEMES and url.startswith(f"{parts.scheme}://"),
        "the URL must begin with redis://, rediss:// or unix://",
    )
    _require(url.isprintable() and " " not in url, "the URL must not hold spaces")
    _require(port is None or 1 <= port <= _MOST_PORT, f"the port must lie in 1..{_MOST_PORT}")
    _check_place(parts)
    if parts.query:
        _check_options(url, parts.query)
    return url


def _check_place(parts: SplitResult) -> None:
    if parts.scheme == "unix":
        _require(
            bool(parts.path.strip("/")), "the URL must name a socket, as unix:///run/redis.sock"
        )
        return
    # redis-py silently takes database 0 for any other path.
    database = unquote(parts.path).strip("/")
    _require(
        not database or (database.isascii() and database.isdecimal() and len(database) <= 9),
        "the path of the URL must be the number of a database, as in redis://host:6379/0",
    )


def _check_options(url: str, query: str) -> None:
    names = sorted(parse_qs(query, keep_blank_values=True))
    refused = [name for name in names if name not in _OPTIONS]
    message = f"the URL has an option that is not one of {', '.join(sorted(_OPTIONS))}"
    _require(not refused, message)
    message = f"redis-py does not accept the value of an option of the URL: {', '.join(names)}"
    # Only a URL with options pays for this import.
    with not_while_forking():
        import redis
        from redis.connection import ConnectionPool
    try:
        # An object that has not connected yet.
        connection: Any = ConnectionPool.from_url(url).make_connection()
    except (ValueError, TypeError, AttributeError, OSError, redis.RedisError):
        raise ValueError(message) from None
    timeouts = (connection.socket_timeout, getattr(connection, "socket_connect_timeout", None))
    _require(all(one is None or 0 < one <= _MOST_TIMEOUT_S for one in timeouts), message)
    _require(0 <= connection.db < 10**9, message)


def checked_database_url(url: str | None) -> str | None:
    """Return the URL if SQLAlchemy can read it; None is the SQLite database of the home.

    What a driver thinks of the options is checked where the engine is made.

    Raises:
        ValueError: the URL is malformed; one line says in which part.
    """
    if url is None:
        return None
    _require("\0" not in url, "the URL must not hold NUL")
    if url.startswith("sqlite:///"):
        return url
    scheme, _, rest = url.partition("://")
    _require(
        scheme in ("postgresql", "postgresql+psycopg", "postgres"),
        "the URL must begin with sqlite:/// or postgresql://",
    )
    # A password may hold any of these characters but @, so that the address is behind the last.
    place = _ADDRESS.fullmatch(re.split("[/?]", rest.rpartition("@")[2], maxsplit=1)[0])
    _require(place is not None, "the host or the port of the URL is malformed")
    port = place and place["port"]
    _require(not port or 1 <= int(port) <= _MOST_PORT, f"the port must lie in 1..{_MOST_PORT}")
    return url


def database_url_of(url: str) -> str:
    """Return a checked URL of a database in the form that SQLAlchemy reads."""
    for scheme in ("postgresql://", "postgres://"):
        if url.startswith(scheme):
            return "postgresql+psycopg://" + url.removeprefix(scheme)
    return url


def with_absolute_path(url: str) -> str:
    """Return a database's URL for a process in another folder: SQLite's file does not move."""
    path = url.removeprefix("sqlite:///")
    if path == url or not path or path.startswith(("/", ":", "file:", "?")):
        return url
    return f"sqlite:///{os.path.abspath(path)}"  # noqa: PTH100 - a text, with its options


def without_password(url: str) -> str:
    """Return a server's URL without its password and its options, which may hold one."""
    parts = urlsplit(url)
    user, at, place = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    server = f"{name}:***@{place}" if colon else f"{user}{at}{place}"
    return f"{parts.scheme}://{server}{parts.path}"


def without_credentials(url: str) -> str:
    """Return a server's URL without the user and the password, and with its other options."""
    parts = urlsplit(url)
    options = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name not in ("username", "password")
    ]
    place = parts.netloc.rpartition("@")[2]
    query = f"?{urlencode(options)}" if options else ""
    return f"{parts.scheme}://{place}{parts.path}{query}"


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
