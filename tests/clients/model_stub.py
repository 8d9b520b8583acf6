"""A stub of the models' APIs on loopback: it has an agent play a story, step by step.

It keeps no state of a conversation: which step comes next follows from the request alone, by how
many calls of tools stand behind the story's last prompt. So retries, sub-agents, resumed sessions
and requests for a title need no special care.
"""

import http.server
import json
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final, NamedTuple

from tests.clients.dialects import (
    Answer,
    Json,
    Turn,
    as_completions,
    as_gemini,
    as_messages,
    as_responses,
    offers_of,
    turns_of_completions,
    turns_of_gemini,
    turns_of_messages,
    turns_of_responses,
)
from tests.clients.steps import Refuse, Say, Step
from tests.clients.tool_calls import SPAWNING, WAITING, Offer, call_of, has_a_shell, wait_call

Prompts = Mapping[str, Sequence[Step]]
_READERS: Final = {
    "/v1/messages": turns_of_messages,
    "/v1/responses": turns_of_responses,
    "/v1/chat/completions": turns_of_completions,
    # Its path names the model.
    ":streamGenerateContent": turns_of_gemini,
}


def next_step(prompts: Prompts, turns: Sequence[Turn]) -> Step:
    """Return the step of the story that comes next in a conversation."""
    asked = [
        (at, prompt)
        for at, turn in enumerate(turns)
        if turn.who == "person"
        for prompt in prompts
        if prompt in turn.text
    ]
    if not asked:
        return Say("There is nothing to do.")
    at, prompt = max(asked)
    done = sum(turn.who == "call" and turn.text != WAITING for turn in turns[at:])
    steps = prompts[prompt]
    return steps[done] if done < len(steps) else Say("Done.")


def answer_to(prompts: Prompts, body: Json, turns: Sequence[Turn]) -> Answer | Refuse:
    """Return what the model answers to a request."""
    offers = offers_of(body)
    unique, model = uuid.uuid4().hex[:16], str(body.get("model"))
    if not has_a_shell(offers):
        return Answer(unique, "A title", None, model)
    if (spawned := _just_spawned(turns)) is not None:
        return Answer(unique, "", wait_call(offers, spawned), model)
    match next_step(prompts, turns):
        case Refuse() as refusal:
            return refusal
        case Say(text):
            return Answer(unique, text, None, model)
        case step:
            return Answer(unique, "", call_of(step, offers), model)


def _just_spawned(turns: Sequence[Turn]) -> str | None:
    """Return what the call that started a sub-agent answered, if the agent has to wait for it."""
    last = turns[-2:]
    if [turn.who for turn in last] == ["call", "result"] and last[0].text == SPAWNING:
        return last[1].text
    return None


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    prompts: ClassVar[Prompts]
    asked: ClassVar[list[Json]]

    def do_GET(self) -> None:
        self._send(200, b'{"object":"list","data":[]}')

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        path = self.path.partition("?")[0]
        path = path[path.rfind(":") :] if ":" in path else path
        self.asked.append({"path": path, "body": body})
        if path not in _READERS:
            self._send(404, b"{}")
            return
        answer = answer_to(self.prompts, body, list(_READERS[path](body)))
        if isinstance(answer, Refuse):
            refusal = {"type": answer.kind, "message": answer.says}
            self._send(answer.status, json.dumps({"type": "error", "error": refusal}).encode())
        else:
            self._send(200, _streamed(path, answer, offers_of(body)), "text/event-stream")

    def _send(self, status: int, body: bytes, content_type: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _streamed(path: str, answer: Answer, offers: Mapping[str, Offer]) -> bytes:
    if path == "/v1/messages":
        return as_messages(answer)
    if path == "/v1/responses":
        return as_responses(answer, offers)
    return as_completions(answer) if path == "/v1/chat/completions" else as_gemini(answer)


class ModelStub(NamedTuple):
    """The server, while it runs.

    Attributes:
        url: its address, without a path.
        asked: the requests so far, for a failed test to look at.
    """

    url: str
    asked: list[Json]


@contextmanager
def playing(prompts: Prompts) -> Iterator[ModelStub]:
    """Serve a story on a free port of loopback."""
    asked: list[Json] = []
    handler = type("Playing", (_Handler,), {"prompts": prompts, "asked": asked})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield ModelStub(f"http://127.0.0.1:{server.server_address[1]}", asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
