"""An embedding endpoint on loopback whose vectors are random, the same for the same text."""

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIMENSIONS = 1536


@contextmanager
def serving_vectors() -> Iterator[str]:
    """Serve on a free port until the block is left; yield the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Vectors)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


class _Vectors(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = [
            {"embedding": _vector(text), "index": index}
            for index, text in enumerate(given["input"])
        ]
        body = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Silent."""


def _vector(text: str) -> list[float]:
    draw = random.Random(text)
    return [draw.gauss(0.0, 1.0) for _ in range(DIMENSIONS)]
