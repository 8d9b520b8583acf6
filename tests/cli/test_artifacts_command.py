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
        timeout=60,
    )  # fmt: skip
    got = subprocess.run(
        [*command, "get", stored.stdout.decode().strip()], env=environment, capture_output=True,
        check=True, timeout=60,
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


def test_parts(artifacts, put):
    """By lines and by bytes; both ends belong to a part."""
    artifact_id = put(b"one\ntwo\nthree\n")
    assert artifacts("get", artifact_id, "--lines", "2:3").out == "two\nthree\n"
    assert artifacts("get", artifact_id, "--lines", ":1").out == "one\n"
    assert artifacts("get", artifact_id, "--bytes", "0:2").out == "one"
    assert artifacts("get", artifact_id, "--bytes", "8:").out == "three\n"
    document = artifacts("get", artifact_id, "--lines", "2:2", "--json").json
    assert document["content"] == "two\n"
    assert document["encoding"] == "utf-8"
    assert (document["start"], document["end"], document["size"]) == (4, 8, 14)
    assert (document["lines"], document["kind"]) == (3, "text")


def test_bytes_that_are_no_text_in_json(artifacts, put):
    """Base64, and it says so."""
    document = artifacts("get", put(b"\xff\0"), "--json").json
    assert document["encoding"] == "base64"
    assert b64decode(document["content"]) == b"\xff\0"
    assert document["kind"] == "binary"


def test_list(artifacts, put, project):
    """The newest first, of one project."""
    first = put(b"1")
    (entry,) = artifacts("list", "--json").json
    assert entry["id"] == first
    assert entry["size"] == 1
    assert entry["stored_at"] < entry["kept_until"]
    elsewhere = artifacts("list", "--project", project)
    assert (elsewhere.status, elsewhere.out) == (1, "")
    assert "does not exist" in elsewhere.err
    assert first in artifacts("list").out


def test_by_task(artifacts, put):
    """Task, tool and summary are kept; one artifact is listed for each of its tasks."""
    shared = put(b"shared", "--task", "build-4711", "--tool", "pytest")
    assert put(b"shared", "--task", "build-4712") == shared
    put(b"nobody's")
    rows = artifacts("list", "--json").json
    assert [(row["task_id"], row["tool"], row["kind"]) for row in rows] == [
        (None, None, "text"), ("build-4712", None, "text"), ("build-4711", "pytest", "text"),
    ]  # fmt: skip
    (row,) = artifacts("list", "--task", "build-4711", "--json").json
    assert (row["id"], row["task_id"], row["size"]) == (shared, "build-4711", 6)
    assert row["summary"].startswith(f"[output kept as artifact {shared}: text, 6 bytes, 1 line]")
    assert list(row) == [
        "id", "task_id", "tool", "kind", "size", "stored_at", "kept_until", "summary",
    ]  # fmt: skip
    table = artifacts("list").out
    assert "build-4711" in table
    assert "pytest" in table
    assert len(artifacts("list", "--limit", 2, "--json").json) == 2


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


def test_projects_are_kept_apart(artifacts, put, project):
    """The id is unknown elsewhere."""
    artifact_id = put(b"x", "--project", project)
    assert artifacts("get", artifact_id, "--project", project).out == "x"
    assert artifacts("get", artifact_id).status == 1


def test_what_is_cut_is_said(artifacts, put, monkeypatch, tmp_path):
    """On standard error, in JSON, and in what is stored."""
    monkeypatch.setenv("TRACKRECORD_ARTIFACTS__MAX_BYTES", "4096")
    (tmp_path / "large").write_bytes(b"x" * 5000)
    ran = artifacts("put", tmp_path / "large")
    assert "its middle are gone" in ran.err
    assert "the middle is gone" in artifacts("get", ran.out.strip()).out
    assert artifacts("put", tmp_path / "large", "--json").json["gone"] > 900


@pytest.mark.parametrize("artifact_id", ["../../etc/passwd", "A" * 64, "0" * 63, ""])
def test_an_id_that_is_none_is_status_2(artifacts, artifact_id):
    """In one line, without a path."""
    ran = artifacts("get", artifact_id)
    assert (ran.status, ran.out) == (2, "")
    assert "64 digits" in ran.err


def test_an_unknown_id_is_status_1(artifacts):
    """In one line that names it."""
    ran = artifacts("get", "0" * 64)
    assert (ran.status, ran.out) == (1, "")
    assert "0" * 64 in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_damaged_artifact_is_status_1(artifacts, put, nothing_up):
    """Nothing of it is printed."""
    artifact_id = put(b"content")
    (file,) = nothing_up.glob(f"artifacts/*/{artifact_id}")
    file.write_bytes(b"conten")
    ran = artifacts("get", artifact_id)
    assert (ran.status, ran.out) == (1, "")
    assert f"artifact {artifact_id} is damaged" in ran.err


@pytest.mark.parametrize(
    "part", [("--lines", "0:1"), ("--lines", "3:1"), ("--bytes", "x"),
             ("--lines", "1:2", "--bytes", "1:2")],
)  # fmt: skip
def test_wrong_parts_are_status_2(artifacts, put, part):
    """And say how to write one."""
    ran = artifacts("get", put(b"x"), *part)
    assert (ran.status, ran.out) == (2, "")


def test_a_disk_that_refuses_is_status_2(artifacts, nothing_up, tmp_path):
    """One line; nothing claims to be stored."""
    (nothing_up / "artifacts").write_text("in the way")
    (tmp_path / "output").write_text("x")
    ran = artifacts("put", tmp_path / "output")
    assert (ran.status, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
