"""A real webhook: the messages that it received, and its behaviour meanwhile."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

import msgspec
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

SECRET = "whsec_" + "c2VjcmV0IG9mIHRoZXNlIHRlc3RzIGFsb25lIQ=="


class ToldWebhook:
    """A server on loopback that notes its messages; its path holds a secret, as many do.

    Args:
        port: to listen on again; 0 for any.
    """

    def __init__(self, port: int = 0) -> None:
        self.told: list[tuple[str, dict]] = []
        self.refused: list[str] = []
        self.status_of = lambda _document: 204
        self.hangs = threading.Event()
        self.goes_on = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status = outer.take(body, dict(self.headers.items()))
                self.send_response(status)
                self.send_header("content-length", "0")
                self.send_header("location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hooks/hunter2-in-the-path"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def take(self, body: bytes, headers: dict[str, str]) -> int:
        """Take a message as a careful receiver does: one with a wrong signature is refused."""
        if self.hangs.is_set():
            self.goes_on.wait(60)
        try:
            Webhook(SECRET).verify(body, headers)
        except WebhookVerificationError as error:
            self.refused.append(str(error))
            return 401
        document = msgspec.json.decode(body)
        status = self.status_of(document)
        if status < 300:
            name = next(name for name in headers if name.lower() == "webhook-id")
            self.told.append((headers[name], document))
        return status

    @property
    def types(self) -> list[str]:
        """Return the types of the messages, in order."""
        return [document["type"] for _, document in self.told]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.goes_on.set()
        self._server.shutdown()
        self._server.server_close()
