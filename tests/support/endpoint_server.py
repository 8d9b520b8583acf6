"""A real embedding endpoint on loopback: vectors by the words of the texts, and its moods."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Each word is a direction; texts about the same thing share one, whatever their words.
MEANINGS = {
    "red": 0, "failing": 0, "broken": 0, "构建失败": 0, "deploy": 1, "release": 1, "上线": 1,
}  # fmt: skip


class EndpointServer:
    """The requests so far, and the answers from now on.

    Attributes:
        asked: the bodies of the requests.
        headers: their headers.
        dimensions: how long its vectors are.
        status: what it answers with.
        delay_s: how long it takes.
        answer: the body of its answer instead of vectors.
        location: where it sends whoever asks, if anywhere.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.dimensions = 4
        self.status = 200
        self.delay_s = 0.0
        self.answer: bytes | None = None
        self.location: str | None = None
        self.url = ""

    @property
    def texts(self) -> list[str]:
        """Every text that was ever asked for."""
        return [text for body in self.asked for text in body["input"]]

    def reply(self, body: dict[str, Any]) -> bytes:
        """The answer to a request."""
        if self.answer is not None:
            return self.answer
        data = [
            {"object": "embedding", "index": index, "embedding": self.vector(text)}
            for index, text in enumerate(body["input"])
        ]
        # In the order that an endpoint may choose.
        return json.dumps({"object": "list", "data": data[::-1]}).encode()

    def vector(self, text: str) -> list[float]:
        """A direction for each meaning; 0.1 so that no vector is without a direction."""
        vector = [0.0] * self.dimensions
        for word, meaning in MEANINGS.items():
            if word in text.lower():
                vector[meaning] = 1.0
        if not any(vector):
            vector[-1] = 1.0
        return vector


@contextmanager
def serving() -> Iterator[EndpointServer]:
    """The endpoint, on a free port of loopback, until the block is left."""
    endpoint = EndpointServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            endpoint.asked.append({"path": self.path, **json.loads(body)})
            endpoint.headers.append(dict(self.headers))
            time.sleep(endpoint.delay_s)
            answer = endpoint.reply(json.loads(body))
            try:
                self.send_response(endpoint.status)
                self.send_header("Content-Length", str(len(answer)))
                if endpoint.location is not None:
                    self.send_header("Location", endpoint.location)
                self.end_headers()
                self.wfile.write(answer)
            except OSError:  # who asked has given up
                self.close_connection = True

        def log_message(self, *_arguments: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
