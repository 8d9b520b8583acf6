"""Requests that no agent would send: each is refused within bounds, and the server goes on."""

import contextlib
import gzip
import json
import socket
import threading
import time
import zlib

import httpx
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.door.raw_http import CREDENTIAL, answer_of, ask, connect
from tests.door.running_door import Door
from tests.support.growth import grows_by_at_most
from tests.support.no_tls import NO_TLS
from trackrecord_capture.agents.door_address import ask_door
from trackrecord_door.protocol.answers import RequestRefused
from trackrecord_door.protocol.bodies import decompressed

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
MIB = 1024 * 1024
HEAD = (
    f"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{CREDENTIAL}"
)


@pytest.fixture(scope="module")
def impatient_door(tmp_path_factory):
    """A front door with few connections, and with little patience for each."""
    with Door(tmp_path_factory.mktemp("impatient"), None, "impatient") as running:
        yield running


@pytest.fixture(autouse=True)
def _still_well(lasting_door):
    """Check that the server is alive, answers, and has not grown."""
    yield
    assert lasting_door.process.poll() is None, lasting_door.log
    with lasting_door.client() as client:
        assert client.get("/health").status_code == 200
    assert "Traceback" not in lasting_door.log
    assert lasting_door.rss_mib() < 300


@hypothesis_settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.binary(max_size=400),
    st.sampled_from(["/v1/traces", "/v1/logs", "/v1/metrics", "/hooks/quiet"]),
    st.sampled_from([PROTOBUF, JSON]),
    st.sampled_from(["identity", "gzip", "deflate"]),
)
def test_any_body_is_taken_or_refused(http, body, path, kind, encoding):
    """A body of any bytes is answered with 2xx or 4xx, never with a failure of the server."""
    headers = {**kind, "content-encoding": encoding}
    assert http.post(path, content=body, headers=headers).status_code in range(200, 500)


@hypothesis_settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_instead_of_http(lasting_door, data):
    """What is not HTTP gets 400 or nothing."""
    with connect(lasting_door.port) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        assert answer_of(connection).status in (0, 400, 401)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_bomb(http, lasting_door, encoding):
    """A gigabyte of zeros in a megabyte: 413, and it is never made in memory."""
    before = lasting_door.rss_mib()
    packer = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    beginning, again = (
        packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )
    bomb = beginning + again * 1023  # nobody reads as far as the checksum
    headers = {**PROTOBUF, "content-encoding": encoding}
    assert http.post("/v1/traces", content=bomb, headers=headers).status_code == 413
    assert lasting_door.rss_mib() < before + 100


def test_a_bomb_in_many_members(http):
    """Members that are small one by one are counted together."""
    member = gzip.compress(bytes(MIB))
    headers = {**PROTOBUF, "content-encoding": "gzip"}
    assert http.post("/v1/traces", content=member * 21, headers=headers).status_code == 413


def test_many_empty_members(http):
    """Each takes a step of its own, so that their number is bounded, too."""
    member = gzip.compress(b"")
    headers = {**JSON, "content-encoding": "gzip"}
    answer = http.post("/v1/traces", content=member * 100_000, headers=headers)
    assert answer.status_code == 413
    assert "members" in answer.json()["message"]
    whole = [gzip.compress(piece) for piece in (b'{"resource', b'Spans": []}')]
    together = (member * 499).join([b"", *whole, b""])
    assert http.post("/v1/traces", content=together, headers=headers).status_code == 413
    together = member * 500 + whole[0] + member * 498 + whole[1]
    assert http.post("/v1/traces", content=together, headers=headers).status_code == 200


@pytest.mark.linear_time
def test_time_grows_with_the_compressed_body():
    """Of however many members it is made."""

    def decompress(members: int) -> None:
        with contextlib.suppress(RequestRefused):
            decompressed(gzip.compress(b"") * members, "gzip", 20 * MIB)

    assert grows_by_at_most(8, decompress, short=12_500, long=100_000)


@pytest.mark.parametrize("cut", [0, 1, 5, 15, -1, -8])
def test_a_compressed_body_that_is_cut_off(http, cut):
    """400: it would be cut off the next time, too. Nothing at all is an empty request."""
    body = gzip.compress(json.dumps({"resourceSpans": []}).encode())[:cut]
    answer = http.post("/v1/traces", content=body, headers={**JSON, "content-encoding": "gzip"})
    assert answer.status_code == 400


def test_a_declared_size_beyond_the_limit(lasting_door):
    """Refused by its head alone."""
    request = f"{HEAD}Content-Length: {100 * MIB}\r\n\r\n"
    assert ask(lasting_door.port, request.encode()).status == 413
    waiting = f"{HEAD}Content-Length: {100 * MIB}\r\nExpect: 100-continue\r\n\r\n"
    assert ask(lasting_door.port, waiting.encode()).status == 413


@pytest.mark.parametrize(
    "length", ["-1", "1e3", "0x10", "+5", "9" * 30, "9" * 5000, "5, 6", "", "five", "\u0663"]
)
def test_a_length_that_is_none(lasting_door, length):
    """Refused as what it is: no HTTP."""
    request = f"{HEAD}Content-Length: {length}\r\n\r\n{{}}"
    assert ask(lasting_door.port, request.encode()).status in (400, 413)


def test_an_undeclared_size_beyond_the_limit(lasting_door):
    """Chunks are counted; the rest is not kept."""
    before = lasting_door.rss_mib()
    chunk = b"%x\r\n" % MIB + bytes(MIB) + b"\r\n"
    with connect(lasting_door.port) as connection:
        connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        try:
            for _ in range(60):
                connection.sendall(chunk)
        except OSError:
            pass
        assert answer_of(connection).status in (0, 413)
    assert lasting_door.rss_mib() < before + 100


def test_a_body_of_the_largest_size(http, lasting_door):
    """20 MiB are read; one byte more is refused."""
    largest = b"{}" + b" " * (20 * MIB - 2)
    assert http.post("/v1/traces", content=largest, headers=JSON).status_code == 200
    assert http.post("/v1/traces", content=largest + b" ", headers=JSON).status_code == 413
    assert http.post("/v1/metrics", content=largest + b" ", headers=JSON).status_code == 413
    assert http.post("/hooks/quiet", content=largest + b" ", headers=JSON).status_code == 413


@pytest.mark.parametrize(
    "begun",
    [
        "",
        "POST /v1/tra",
        HEAD,
        f"{HEAD}Content-Length: 100\r\n\r\n{{",
        f"{HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        # A request that is refused before its body came is no way to stay, either.
        f"{HEAD}Origin: https://evil.example\r\nContent-Length: 100\r\n\r\n{{",
        f"{HEAD}Content-Length: 2\r\n\r\n{{}}POST /v1/tr",
    ],
)
def test_a_request_that_never_ends(impatient_door, begun):
    """Its connection is closed after a while, however slowly it goes on."""
    with connect(impatient_door.port) as connection:
        connection.sendall(begun.encode())
        deadline = time.monotonic() + 60
        connection.settimeout(0.5)
        while time.monotonic() < deadline:
            try:
                if not connection.recv(65536):
                    return
            except TimeoutError:
                if begun:  # a byte now and then
                    try:
                        connection.sendall(b"1")
                    except OSError:
                        return
            except ConnectionError:
                return
        pytest.fail("the connection is still open")


def test_a_head_without_end(lasting_door):
    """A head of many or of endless lines is refused."""
    assert ask(lasting_door.port, b"GET /health HTTP/1.1\r\nX: " + b"a" * MIB).status in (0, 400)
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"
    refused = ask(lasting_door.port, whole)
    # Without an answer where the connection was closed before all of it had been sent.
    assert refused.status in (0, 400, 431)
    assert len(refused.content.partition(b"\r\n\r\n")[2].splitlines()) <= 1
    lines = b"".join(b"X-%d: 1\r\n" % number for number in range(20_000))
    assert ask(lasting_door.port, b"GET /health HTTP/1.1\r\n" + lines).status in (0, 400)


@pytest.mark.parametrize(
    "request_line",
    ["GET /health HTTP/9.9", "GET /health", "FOO /health HTTP/1.1", "POST /%00 HTTP/1.1",
     "GET /hooks/%2e%2e%2fetc%2fpasswd HTTP/1.1", "GET //evil.example/health HTTP/1.1",
     "GET http://evil.example/health HTTP/1.1", "CONNECT evil.example:80 HTTP/1.1",
     "GET /%ff%fe HTTP/1.1", "PRI * HTTP/2.0", "OPTIONS * HTTP/1.1"],
)  # fmt: skip
def test_odd_request_lines(lasting_door, request_line):
    """None of them is more than refused."""
    answer = ask(lasting_door.port, f"{request_line}\r\nHost: localhost\r\n\r\n".encode())
    assert answer.status in (0, 200, 400, 404, 405)


def test_a_length_beside_an_encoding(lasting_door):
    """Refused, and what follows is no request: a proxy may have read another end of the body."""
    smuggled = b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    request = HEAD.encode() + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled
    with connect(lasting_door.port) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as answers:
            content = answers.read()
    assert content.startswith(b"HTTP/1.1 400 ")
    assert content.count(b"HTTP/1.1 ") == 1


def test_what_turns_out_to_be_no_request_after_its_answer(lasting_door):
    """The connection is closed without a word; `_still_well` looks for a traceback in the log."""
    head = (
        f"POST /nothing HTTP/1.1\r\nHost: localhost\r\n{CREDENTIAL}Transfer-Encoding: chunked\r\n"
    )
    with connect(lasting_door.port) as connection:
        connection.sendall(f"{head}\r\n5\r\nhello\r\n".encode())
        assert answer_of(connection).status == 404
        connection.sendall(b"zz\r\nxx\r\n")
        with contextlib.suppress(ConnectionError):
            assert connection.recv(1) == b""


def test_two_hosts_are_none(lasting_door):
    """Nor is none one."""
    request = "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    assert ask(lasting_door.port, request.encode()).status == 400
    assert ask(lasting_door.port, b"GET /health HTTP/1.1\r\n\r\n").status == 400
    assert ask(lasting_door.port, b"GET /health HTTP/1.0\r\n\r\n").status == 200


@pytest.mark.parametrize("begun", [b"", b"GET /health HTT", b"GET /health HTTP/1.1\r\nX: y\r\n"])
def test_hundreds_of_connections_too_many(impatient_door, begun):
    """Those that show no credential make room: old and new connections of others are answered."""
    url = f"{impatient_door.url}/health"
    with httpx.Client(timeout=60, verify=NO_TLS) as client:
        assert client.get(url).status_code == 200
        held: list[socket.socket] = []
        try:
            for number in range(900):
                held.append(connect(impatient_door.port))
                with contextlib.suppress(OSError):  # it may be closed by now
                    held[-1].sendall(begun)
                if number % 100 == 99:
                    assert client.get(url).status_code == 200
                    assert httpx.get(url, timeout=60, verify=NO_TLS).status_code == 200
                    assert ask_door(impatient_door.home, "GET", "/health")[0] == 200
        finally:
            for connection in held:
                connection.close()
    impatient_door.until(
        lambda: httpx.get(url, timeout=60, verify=NO_TLS).status_code == 200
    )  # fmt: skip
    assert "Traceback" not in impatient_door.log


def test_connections_with_a_credential_stay_within_the_bound(impatient_door):
    """Beyond it, one that waits for a request is closed: browsers and exporters connect again."""
    asked = f"GET /health HTTP/1.1\r\nHost: localhost\r\n{CREDENTIAL}\r\n".encode()
    held = []
    try:
        for _ in range(120):
            held.append(connect(impatient_door.port))
            held[-1].sendall(asked)
            assert answer_of(held[-1]).status == 200
        open_still = 0
        for connection in held:
            connection.settimeout(0.0)
            try:
                connection.recv(1)
            except BlockingIOError:
                open_still += 1
            except ConnectionError:
                pass
        assert 0 < open_still <= 50
    finally:
        for connection in held:
            connection.close()


def test_a_body_that_stalls_is_not_waited_for_as_long_as_one_that_comes(impatient_door):
    """What keeps coming has time until the end of the request's; what stalls has not."""
    head = f"{HEAD}Content-Length: {20 * MIB}\r\n\r\n".encode()
    with connect(impatient_door.port) as stalled, connect(impatient_door.port) as coming:
        stalled.sendall(head + bytes(MIB))
        coming.sendall(head)
        stalled.settimeout(0.05)
        sent = 0
        while sent < 18 * MIB:
            coming.sendall(bytes(32 * 1024))
            sent += 32 * 1024
            try:
                assert stalled.recv(1) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("the body that stalls is waited for")
        coming.sendall(bytes(20 * MIB - sent))
        assert answer_of(coming).status == 400  # it is no JSON


def test_every_answer_says_that_its_type_is_to_be_believed(http, lasting_door):
    """Whatever it is: browsers look for scripts in texts otherwise."""
    requests = [
        http.get("/health"), http.get("/"), http.get("/static/page.js"), http.get("/no-such-page"),
        http.post("/v1/traces", json={}), http.post("/v1/traces", content=b"\xff", headers=JSON),
        http.get("/api/v1/patterns"), http.get("/api/v1/none"), http.put("/health"),
        httpx.get(f"{lasting_door.address}/", timeout=60, verify=NO_TLS),
    ]  # fmt: skip
    assert {each.status_code for each in requests} >= {200, 400, 401, 404, 405}
    for answer in requests:
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"], answer.url
    no_http = ask(lasting_door.port, b"HELO\r\n\r\n", "")
    assert no_http.status == 400
    assert b"x-content-type-options: nosniff" in no_http.content.lower()


def test_thirty_large_bodies_at_once(door):
    """Memory stays bounded: some are told to come again, and then all come through."""
    body = b"{}" + b" " * (10 * MIB)
    statuses: list[int] = []

    def post() -> None:
        with door.client(timeout=120) as client:
            while True:
                # On a busy machine a body takes longer than the server waits for it: it hangs up.
                with contextlib.suppress(httpx.TransportError):
                    status = client.post("/v1/traces", content=body, headers=JSON).status_code
                    statuses.append(status)
                    if status == 200:
                        return
                time.sleep(0.3)

    posting = [threading.Thread(target=post) for _ in range(30)]
    for thread in posting:
        thread.start()
    most = 0.0
    while any(thread.is_alive() for thread in posting):
        most = max(most, door.rss_mib())
        time.sleep(0.02)
    assert statuses.count(200) == 30
    assert set(statuses) <= {200, 503}
    assert most < 250
