"""How the front door ends: nothing is lost that it answered with 200."""

import signal
import threading

import httpx

from tests.door.test_otlp_over_http import PROTOBUF, spans
from tests.support.no_tls import NO_TLS


def test_ended_while_agents_post(door):
    """SIGTERM under load: every span of a request that was answered with 200 was taken."""
    answered: list[int] = []
    numbers = iter(range(1, 10**9))
    stop = threading.Event()

    def post() -> None:
        with door.client() as client:
            while not stop.is_set():
                trace = next(numbers)
                body = spans("a", "b", "c", trace=trace).SerializeToString()
                try:
                    status = client.post("/v1/traces", content=body, headers=PROTOBUF).status_code
                except httpx.TransportError:
                    return  # it has ended: the exporter would try again
                if status == 200:
                    answered.append(trace)

    posting = [threading.Thread(target=post) for _ in range(4)]
    for thread in posting:
        thread.start()
    door.until(lambda: len(answered) > 40)
    door.process.send_signal(signal.SIGTERM)
    assert door.process.wait(200) == 0
    stop.set()
    for thread in posting:
        thread.join(200)
    taken = [int(span["trace_id"], 16) for span in door.taken("span")]
    assert all(taken.count(trace) >= 3 for trace in answered)
    assert door.taken("closed") == [None]


def test_a_request_at_hand_is_answered(door):
    """SIGTERM while the receiver is at work: the answer is still given, then it ends."""
    door.switch("slow", on=True)
    results: list[int] = []

    def post() -> None:
        body = spans("a").SerializeToString()
        with door.client() as client:
            answer = client.post("/v1/traces", content=body, headers=PROTOBUF)
        results.append(answer.status_code)

    posting = threading.Thread(target=post)
    posting.start()
    waiting = door.taken_file.with_suffix(".waiting")
    door.until(waiting.exists)
    door.process.send_signal(signal.SIGTERM)
    door.switch("slow", on=False)
    posting.join(200)
    assert results == [200]
    assert door.process.wait(200) == 0
    assert [span["name"] for span in door.taken("span")] == ["a"]


def test_a_slow_request_does_not_keep_others_waiting(door):
    """Hooks and the health check are answered while the receiver is at work."""
    door.switch("slow", on=True)
    body = spans("a").SerializeToString()
    url = f"{door.url}/v1/traces"
    posting = threading.Thread(
        target=httpx.post, args=(url,), kwargs={"content": body, "headers": PROTOBUF, "timeout": 60}
    )
    posting.start()
    door.until(door.taken_file.with_suffix(".waiting").exists)
    assert httpx.get(f"{door.url}/health", timeout=60, verify=NO_TLS).status_code == 200
    door.switch("slow", on=False)
    posting.join(200)
