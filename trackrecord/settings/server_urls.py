"""Check the URLs of the servers, without connecting.

redis-py notices most mistakes only when it connects, where an agent would take them for a server
that is away. No message repeats a URL, which may hold a password.
"""

import os
import re
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, parse_qs, parse_qsl, unquote, urlencode, urlsplit

from trackrecord.process.forking import not_while_forking

_SCHEMES: Final = ("redis", "rediss", "unix")
# Behind the scheme of a single server: several addresses, and what they are of.
_CLUSTER: Final = "+cluster"
_SENTINEL: Final = "+sentinel"
_SENTINELS_PORT: Final = 26_379
_REDIS_PORT: Final = 6379
_NO_DATABASE: Final = "a Redis Cluster has no databases: the URL must not name one"
_MOST_PORT: Final = 65_535
_MOST_TIMEOUT_S: Final = 86_400
# Options that a text can express; redis-py takes the names of its Python objects as well, and fails
# with them later. `protocol` and `decode_responses` change the form of the replies that we read.
_OPTION_NAMES: Final = (
    "client_name db health_check_interval max_connections password retry_on_timeout "
    "socket_connect_timeout socket_keepalive socket_timeout ssl_ca_certs ssl_ca_path ssl_cert_reqs "
    "ssl_certfile ssl_check_hostname ssl_keyfile ssl_password username"
)
_OPTIONS: Final = frozenset(_OPTION_NAMES.split())
# How to log in at the Sentinels, which have users of their own.
_SENTINELS_USER: Final = frozenset({"sentinel_username", "sentinel_password"})
_ADDRESS: Final = re.compile(r"(?:\[[^][]+\]|[^][:]*)(?::(?P<port>[0-9]{0,9}))?", re.ASCII)


class ServerGroup(NamedTuple):
    """The servers that the URL of a cluster, or of Sentinels, names.

    Attributes:
        addresses: the host and the port of each.
        url: that of a single server at the first address, with the user and the options.
        service: the name of the master that the Sentinels watch; "" for a cluster.
        sentinels_user: the options by which redis-py logs in at the Sentinels.
    """

    addresses: tuple[tuple[str, int], ...]
    url: str
    service: str
    sentinels_user: dict[str, str]


def server_group(url: str) -> ServerGroup | None:
    """Return the servers that a checked URL names; None if it names a single one."""
    scheme, _, rest = url.partition("://")
    kind = scheme[scheme.find("+") :] if "+" in scheme else ""
    if kind not in (_CLUSTER, _SENTINEL):
        return None
    place, mark, query = rest.partition("?")
    netloc, _, path = place.partition("/")
    user, at, hosts = netloc.rpartition("@")
    port = _REDIS_PORT if kind == _CLUSTER else _SENTINELS_PORT
    addresses = tuple(_host_and_port(each, port) for each in hosts.split(","))
    options = parse_qsl(query, keep_blank_values=True)
    sentinels_user = {
        name.removeprefix("sentinel_"): value for name, value in options if name in _SENTINELS_USER
    }
    if sentinels_user:
        query = urlencode([pair for pair in options if pair[0] not in _SENTINELS_USER])
        mark = "?" if query else ""
    first = hosts.split(",")[0]
    single = f"{scheme.removesuffix(kind)}://{user}{at}{first}{mark}{query}"
    service = unquote(path) if kind == _SENTINEL else ""
    return ServerGroup(addresses, single, service, sentinels_user)


def _host_and_port(address: str, default: int) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(address)
    host = address.rpartition(":")[0] if found and found["port"] is not None else address
    port = int(found["port"]) if found and found["port"] else default
    return host.strip("[]"), port


def checked_redis_url(url: str | None) -> str | None:
    """Return the URL if redis-py can use it; None is the embedded server.

    Raises:
        ValueError: the URL is malformed; one line says in which part.
    """
    if url is None:
        return None
    if (group := server_group(url)) is not None:
        _check_group(url, group)
        return url
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        message = "the host or the port of the URL is malformed"
        raise ValueError(message) from None
    _require(
        parts.scheme in _SCHEMES and url.startswith(f"{parts.scheme}://"),
        "the URL must begin with redis://, rediss://, unix://, redis+cluster:// or "
        "redis+sentinel://",
    )
    _require(url.isprintable() and " " not in url, "the URL must not hold spaces")
    _require(port is None or 1 <= port <= _MOST_PORT, f"the port must lie in 1..{_MOST_PORT}")
    _check_place(parts)
    if parts.query:
        _check_options(url, parts.query)
    return url


def _check_group(url: str, group: ServerGroup) -> None:
    checked_redis_url(group.url)
    _require(url.isprintable() and " " not in url, "the URL must not hold spaces")
    hosts = url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    _require(
        all(_ADDRESS.fullmatch(each) for each in hosts.split(","))
        and all(map(all, group.addresses)),
        "the URL must name hosts and ports with commas between, as in host:6379,host:6379",
    )
    _require(
        all(1 <= port <= _MOST_PORT for _, port in group.addresses),
        f"the port must lie in 1..{_MOST_PORT}",
    )
    path = url.partition("://")[2].partition("?")[0].partition("/")[2]
    if is_cluster_url(url):
        _require(not path, _NO_DATABASE)
        _require("db" not in parse_qs(urlsplit(group.url).query), _NO_DATABASE)
        _require(not group.sentinels_user, "a Redis Cluster has no Sentinels to log in at")
        return
    _require(
        bool(path) and "/" not in path,
        "the path of the URL must be the name of the master that the Sentinels watch, as in "
        "redis+sentinel://host:26379,host:26379/mymaster; its database is an option, ?db=1",
    )


def is_cluster_url(url: str) -> bool:
    """Return whether a URL names the nodes of a Redis Cluster."""
    return url.partition("://")[0] in ("redis+cluster", "rediss+cluster")


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
