"""The baseline of the metrics: uvicorn with the metrics of an empty registry."""

import socket
import sys

import uvicorn
from prometheus_client import CollectorRegistry, make_asgi_app

if __name__ == "__main__":
    config = uvicorn.Config(
        make_asgi_app(CollectorRegistry()),
        http="h11",
        lifespan="off",
        log_level="error",
        access_log=False,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
