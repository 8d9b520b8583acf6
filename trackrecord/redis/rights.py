"""The rights of the current Redis user, found out without using them."""

from collections.abc import Mapping
from typing import Any

import redis

from .roles import Command
from .shards import servers_of


def refusals(
    client: redis.Redis, commands: Mapping[str, Command]
) -> dict[str, redis.ResponseError]:
    """Return how Redis refuses each command that it does not accept from this user.

    The commands are queued in a transaction that is discarded, so that none is carried out. Without
    a server that queues them, none is sent. Of a cluster each master is asked.

    Args:
        client: a client of the user in question.
        commands: the commands, as they are sent, by name.

    Raises:
        redis.RedisError: the server cannot be reached, or does not queue commands.
    """
    refused: dict[str, redis.ResponseError] = {}
    for server in servers_of(client):
        refused |= _refusals_of(server, commands)
    return refused


def _refusals_of(
    server: redis.Redis, commands: Mapping[str, Command]
) -> dict[str, redis.ResponseError]:
    refused = {}
    with server.client() as single:  # type: ignore[no-untyped-call] # redis-py has no type for it
        connection: Any = single.connection
        _require_answer(connection, "MULTI", b"OK")
        try:
            _require_answer(connection, "PING", b"QUEUED")
            for name, command in commands.items():
                connection.send_command(*command, check_health=False)
                try:
                    answer = connection.read_response()
                except redis.exceptions.MovedError:
                    pass  # the user may send it; another node has the key
                except redis.ResponseError as error:
                    refused[name] = error
                else:
                    _require(answer, b"QUEUED")
            _require_answer(connection, "DISCARD", b"OK")
        except BaseException:
            # What is queued is gone with the connection.
            connection.disconnect()
            raise
    return refused


def _require_answer(connection: Any, command: str, answer: bytes) -> None:  # noqa: ANN401 - redis-py has no type for it
    connection.send_command(command, check_health=False)
    _require(connection.read_response(), answer)


def _require(answer: object, expected: bytes) -> None:
    if answer not in (expected, expected.decode()):
        message = "the server does not queue the commands of a transaction"
        raise redis.ResponseError(message)
