"""`trackrecord artifacts`: whole outputs in, and out again."""

import os
import subprocess
import sys
from base64 import b64decode
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trackrecord_cli.main import run


@pytest.fixture
def artifacts(nothing_up, trackrecord):
    """Runs `artifacts …`; needs no server."""
    return lambda *arguments: trackrecord("artifacts", *arguments)


@pytest.fixture
def put(artifacts, tmp_path):
    """Stores bytes; answers the id."""

    def call(data, *arguments):
        file = tmp_path / "output"
        file.write_bytes(data)
        ran = artifacts("put", file, *arguments)
        assert ran.status == 0
        return ran.out.strip()

    return call


@given(data=st.binary(max_size=500))
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_what_was_put_comes_back_byte_for_byte(nothing_up, tmp_path, capfdbinary, data):
    """Any bytes, and not one more on standard output."""
    (tmp_path / "output").write_bytes(data)
    assert run(["artifacts", "put", str(tmp_path / "output")]) == 0
    artifact_id = capfdbinary.readouterr().out.decode().strip()
    assert artifact_id == sha256(data).hexdigest()
    assert run(["artifacts", "get", artifact_id]) == 0
    assert capfdbinary.readouterr() == (data, b"")


def test_through_a_pipe(nothing_up):
    """Standard input in, standard output out, from a process of its own."""
    data = bytes(range(256)) * 100
    command = [sys.executable, "-m", "trackrecord_cli", "artifacts"]
    environment = {**os.environ, "TRACKRECORD_HOME": str(nothing_up)}
    stored = subprocess.run(
        [*command, "put", "-"], input=data, env=environment, capture_output=True, check=True,
        timeout=200,
    )  # fmt: skip
    got = subprocess.run(
        [*command, "get", stored.stdout.decode().strip()], env=environment, capture_output=True,
        check=True, timeout=200,
    )  # fmt: skip
    assert got.stdout == data


def test_put_as_json_has_the_summary(artifacts, tmp_path):
    """And what it is."""
    (tmp_path / "output").write_text('{"a": [1, 2]}')
    document = artifacts("put", tmp_path / "output", "--json").json
    assert document["kind"] == "JSON"
    assert (document["size"], document["lines"], document["gone"]) == (13, 1, 0)
    assert "object with 1 key: a (2 items)" in document["summary"]
    assert document["id"] in document["summary"]


def test_bytes_that_are_no_text_in_json(artifacts, put):
    """Base64, and it says so."""
    document = artifacts("get", put(b"\xff\0"), "--json").json
    assert document["encoding"] == "base64"
    assert b64decode(document["content"]) == b"\xff\0"
    assert document["kind"] == "binary"


def test_a_task_without_artifacts_is_said(artifacts, put):
    """On standard error, with the nearest one that has some; the answer is empty."""
    put(b"x", "--task", "build-4711")
    ran = artifacts("list", "--task", "biuld-4711", "--json")
    assert (ran.status, ran.json) == (0, [])
    assert "no artifact of task 'biuld-4711'; did you mean 'build-4711'?" in ran.err


def test_the_command_in_a_summary_reads_it_back(artifacts, put, tmp_path):
    """Also where the project is not the usual one."""
    (tmp_path / "large").write_bytes(b"line\n" * 300)
    document = artifacts("put", tmp_path / "large", "--project", "my shop", "--json").json
    command = "trackrecord artifacts get --project 'my shop' ID --lines 1:100"
    assert f"Read it: {command}" in document["summary"]
    ran = artifacts("get", "--project", "my shop", document["id"], "--lines", "1:100")
    assert ran.out == "line\n" * 100


@pytest.mark.parametrize("artifact_id", ["../../etc/passwd", "A" * 64, "0" * 63, ""])
def test_an_id_that_is_none_is_status_2(artifacts, artifact_id):
    """In one line, without a path."""
    ran = artifacts("get", artifact_id)
    assert (ran.status, ran.out) == (2, "")
    assert "64 digits" in ran.err


def test_a_damaged_artifact_is_status_1(artifacts, put, nothing_up):
    """Nothing of it is printed."""
    artifact_id = put(b"content")
    (file,) = nothing_up.glob(f"artifacts/*/{artifact_id}")
    file.write_bytes(b"conten")
    ran = artifacts("get", artifact_id)
    assert (ran.status, ran.out) == (1, "")
    assert f"artifact {artifact_id} is damaged" in ran.err


def test_a_disk_that_refuses_is_status_2(artifacts, nothing_up, tmp_path):
    """One line; nothing claims to be stored."""
    (nothing_up / "artifacts").write_text("in the way")
    (tmp_path / "output").write_text("x")
    ran = artifacts("put", tmp_path / "output")
    assert (ran.status, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
