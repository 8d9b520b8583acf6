"""HTTP written by hand, for requests that no client would send."""

import socket
from contextlib import suppress
from dataclasses import dataclass

PATIENCE_S = 200.0
# Of every front door that these tests start.
OWN_TOKEN = "own-token-of-the-front-doors-of-the-tests"  # noqa: S105 - of these tests alone
CREDENTIAL = f"Authorization: Bearer {OWN_TOKEN}\r\n"


@dataclass(frozen=True)
class Answer:
    """An answer: its status, 0 if the connection was closed without one, and all that came."""

    status: int
    content: bytes


def connect(port: int) -> socket.socket:
    """A connection to the front door."""
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)


def ask(port: int, request: bytes, credential: str = CREDENTIAL) -> Answer:
    """Send bytes with a credential on a new connection; return the first answer."""
    if credential.encode() not in request:
        line, end, rest = request.partition(b"\r\n")
        request = line + end + credential.encode() + rest
    with connect(port) as connection:
        with suppress(OSError):  # it may have been answered before everything was sent
            connection.sendall(request)
        return answer_of(connection)


def answer_of(connection: socket.socket) -> Answer:
    """Read one answer: its head, and as much of the body as its length says."""
    content = b""
    try:
        while b"\r\n\r\n" not in content:
            content += (chunk := connection.recv(65536))
            if not chunk:
                break
        head, _, body = content.partition(b"\r\n\r\n")
        while len(body) < _length(head):
            body += (chunk := connection.recv(65536))
            if not chunk:
                break
    except ConnectionError:
        return Answer(0, content)
    return Answer(int(content.split()[1]) if content.startswith(b"HTTP/") else 0, content)


def _length(head: bytes) -> int:
    lengths = [line for line in head.lower().splitlines() if line.startswith(b"content-length:")]
    return int(lengths[0].partition(b":")[2]) if lengths else 0
