"""Checks the URL of a Redis server as redis-py reads it, without connecting.

redis-py notices most mistakes only when it connects, where an agent would take them for a server
that is away. No message repeats the URL, which may hold a password.
"""

from contextlib import suppress
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

_SCHEMES: Final = ("redis", "rediss", "unix")
_MOST_PORT: Final = 65_535
# redis-py accepts these, but answers would then come in a form that is not read.
_NOT_OURS: Final = frozenset({"decode_responses", "encoding", "encoding_errors"})


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
    # Only a URL with options pays for the import here: redis-py alone knows what each may be.
    import redis
    from redis.connection import ConnectionPool

    names = parse_qs(query, keep_blank_values=True)
    shown = ", ".join(name for name in names if name.isascii() and name.isidentifier())[:100]
    message = f"redis-py does not accept an option of the URL, or its value: {shown}"
    _require(not names.keys() & _NOT_OURS, message)
    pool = None
    try:
        pool = ConnectionPool.from_url(url)
        pool.make_connection()  # builds the connection's object; connects to nothing
    except (ValueError, TypeError, AttributeError, OSError, redis.RedisError):
        raise ValueError(message) from None
    finally:
        if pool is not None:
            with suppress(redis.RedisError, OSError):
                pool.disconnect()


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
