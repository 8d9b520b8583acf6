"""The MCP server that coding agents start: each message goes to the front door, which answers it.

Copied into trackrecord's home and started there as `python -I -S mcp.py HOME PYTHON`, so it may
import the standard library alone, and little of that: an agent waits for the tools before its first
request to the model. Where no front door answers, the whole server takes its place.
"""

import json
import os
import socket
import sys

LONGEST_LINE = 1 << 20
MOST_ANSWER = 1 << 24
# The first question may have to wait for an import, and others for the database.
STARTING_S = 3.0
ASKING_S = 30.0
TOOLS = ("recall", "remember")
AWAY = "the front door of trackrecord does not answer; go on without it, and start `trackrecord up`"


def main(home: str, python: str) -> None:
    """Answer the messages on stdin, a line for each, until it ends."""
    is_open, held = False, b""
    while data := os.read(0, 65_536):
        *lines, held = (held + data).split(b"\n")
        if len(held) > LONGEST_LINE:
            return
        if lines and not is_open:
            is_open = _is_open(home)
            if not is_open:
                _be_the_server(python, b"\n".join((*lines, held)))
        for line in filter(bytes.strip, lines):
            try:
                answer = _ask(home, line).strip()
            except OSError:
                answer = _refusal(line)
            if answer:
                _write(1, answer + b"\n")


def _is_open(home: str) -> bool:
    """Return whether the front door answers: one that hangs is not waited for."""
    try:
        return _exchanged(home, "GET /health", b"", STARTING_S)[0] == b"2"
    except OSError:
        return False


def _ask(home: str, message: bytes) -> bytes:
    """Return what the front door answers; nothing to a notification.

    Raises:
        OSError: it does not answer.
    """
    path = f"/mcp?tools={','.join(TOOLS)}&folder={_quoted(os.getcwdb())}"
    kind, answer = _exchanged(home, f"POST {path}", message, ASKING_S)
    if kind not in (b"2", b"4"):
        raise OSError(AWAY)
    return answer


def _exchanged(home: str, request: str, body: bytes, timeout_s: float) -> tuple[bytes, bytes]:
    """Return the first digit of the status of an answer, and its body.

    Raises:
        OSError: there is no answer.
    """
    headers = [
        f"{request} HTTP/1.0",
        "Host: localhost",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
    ]
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(timeout_s)
        door.connect(f"{home}/http.sock")
        door.sendall("\r\n".join([*headers, "", ""]).encode() + body)
        read = b""
        while len(read) < MOST_ANSWER and (part := door.recv(65_536)):
            read += part
    head, _, answer = read.partition(b"\r\n\r\n")
    return head[9:10], answer


def _quoted(path: bytes) -> str:
    """Return a path as a part of a URL; what quotes them elsewhere takes its time to import."""
    return "".join(
        chr(each) if chr(each).isalnum() and each < 128 else f"%{each:02X}" for each in path
    )


def _refusal(line: bytes) -> bytes:
    """Return the answer to a message that the front door did not answer."""
    try:
        message = json.loads(line)
    except ValueError:
        return b""
    if not isinstance(message, dict) or "id" not in message:
        return b""
    told = {"jsonrpc": "2.0", "id": message["id"]}
    if message.get("method") == "tools/call":
        told["result"] = {"content": [{"type": "text", "text": AWAY}], "isError": True}
    else:
        told["error"] = {"code": -32603, "message": AWAY}
    return json.dumps(told).encode()


def _be_the_server(python: str, read: bytes) -> None:
    """Become a server of its own, which gets what was read already and all that follows."""
    its_end, our_end = os.pipe()
    if os.fork() == 0:
        os.close(its_end)
        try:
            _write(our_end, read)
            while data := os.read(0, 65_536):
                _write(our_end, data)
        finally:
            os._exit(0)
    os.dup2(its_end, 0)
    os.close(its_end)
    os.close(our_end)
    tools = [word for tool in TOOLS for word in ("--tool", tool)]
    os.execv(python, [python, "-P", "-m", "trackrecord_cli", "mcp", "--by-folder", *tools])


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2])
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)
