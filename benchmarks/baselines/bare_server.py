"""The baseline of the front door: uvicorn with an application that reads a body and answers 200."""

import socket
import sys
from typing import Any

import uvicorn


async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - as ASGI has them
    """Read everything, and keep nothing of it."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    config = uvicorn.Config(app, http="h11", lifespan="off", log_level="error", access_log=False)
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
