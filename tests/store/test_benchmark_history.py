"""The history of benchmark runs: appended, bounded, and never overwritten when unreadable."""

import multiprocessing
import os
import stat

import pytest

from trackrecord.learning.outcomes.rates import ProcessFacts, snapshot
from trackrecord.store.advice.benchmark_history import BenchmarkHistory


def run(at, retries=1):
    facts = [ProcessFacts(True, 0.5, retries=retries)]
    return snapshot(facts, touching_proven=0, at=float(at))


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def history(tmp_path, warnings):
    return BenchmarkHistory(tmp_path, "shop", warn=warnings.append)


def file_of(tmp_path):
    (file,) = [f for f in tmp_path.glob("benchmarks/*.json") if "unreadable" not in f.name]
    return file


def aside(tmp_path):
    return sorted(tmp_path.glob("benchmarks/*.unreadable-*"))


def test_runs_come_back_as_they_were(history, tmp_path, warnings):
    """In their order, with all that they say."""
    assert history.snapshots() == []
    history.append(run(1), keep=100)
    history.append(run(2, retries=7), keep=100)
    assert history.snapshots() == [run(1), run(2, retries=7)]
    assert warnings == []
    assert stat.S_IMODE(file_of(tmp_path).stat().st_mode) == 0o600


GARBAGE = [b"", b"{", b"[]", b"\xff\xfe", b'{"version": 1}', b"null", b"[" * 100_000,
           b'{"version": 2, "project": "shop", "snapshots": []}',
           b'{"version": 1, "project": "other", "snapshots": []}',
           b'{"version": 1, "project": "shop", "snapshots": [{"at": "x"}]}']  # fmt: skip


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("how", ["read", "append"])
def test_what_cannot_be_read_is_set_aside_with_a_warning(
    history, tmp_path, warnings, garbage, how
):  # fmt: skip
    """Byte for byte, under another name, and the history begins anew."""
    history.append(run(1), keep=9)
    file_of(tmp_path).write_bytes(garbage)
    if how == "append":
        history.append(run(2), keep=9)
        assert history.snapshots() == [run(2)]
    else:
        assert history.snapshots() == []
    (kept,) = aside(tmp_path)
    assert kept.read_bytes() == garbage
    (warning,) = warnings
    assert kept.name in warning
    assert len(warning.splitlines()) == 1


@pytest.mark.parametrize("what", ["link", "folder", "pipe"])
def test_what_is_no_file_is_set_aside(history, tmp_path, warnings, what):
    """Nothing is written through a symbolic link, and a pipe hangs nobody."""
    history.append(run(1), keep=9)
    file = file_of(tmp_path)
    file.unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    if what == "link":
        file.symlink_to(elsewhere)
    elif what == "folder":
        file.mkdir()
    else:
        os.mkfifo(file)
    history.append(run(2), keep=9)
    assert history.snapshots() == [run(2)]
    assert elsewhere.read_text() == "precious"
    assert len(aside(tmp_path)) == len(warnings) == 1


def test_a_write_that_fails_leaves_the_history_as_it_was(history, tmp_path, monkeypatch):
    """The file is replaced whole, or not at all."""
    history.append(run(1), keep=9)

    def full(_fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        history.append(run(2), keep=9)
    assert history.snapshots() == [run(1)]
    assert len(list(tmp_path.glob("benchmarks/.*"))) == 0


def _append(home, start, count):
    own = BenchmarkHistory(home, "shop", warn=print)
    for number in range(count):
        own.append(run(start + number), keep=1000)


def test_runs_at_once_are_all_kept(history, tmp_path):
    """Two processes never write one over the other."""
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        arguments = [(tmp_path, start, 15) for start in (0, 100, 200)]
        pool.starmap_async(_append, arguments, chunksize=1).get(200)
    assert len(history.snapshots()) == 45
