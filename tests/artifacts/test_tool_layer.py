"""What an agent's tool layer calls: summaries in, the whole back, and never an exception."""

import asyncio
import functools
import os
import subprocess
import sys
import threading
from hashlib import sha256

import pytest

import trackrecord

BIG = "line of an output\n" * 1000
SMALL = "x" * 10_000


def id_in(text):
    return str(text).split("artifact ")[1][:64]


def whole(artifact_id, **project):
    return trackrecord.artifact(artifact_id, limit=None, **project).data


def stored(home):
    return [p for p in home.glob("artifacts/*/*") if not p.name.startswith(".")]


def test_an_oversized_output_becomes_a_summary(agent):
    """Of at most 500 characters, with the id under which it comes back byte for byte."""
    text = trackrecord.summarise(BIG)
    assert type(text) is str
    assert len(text) <= 500
    assert id_in(text) == sha256(BIG.encode()).hexdigest()
    assert whole(id_in(text)) == BIG.encode()


def test_bytes_that_are_no_text_come_back(agent):
    """The summary is bytes as the output was."""
    text = trackrecord.summarise(b"\xff\0" * 10_001)
    assert type(text) is bytes
    assert whole(id_in(text.decode())) == b"\xff\0" * 10_001


@pytest.mark.parametrize(
    "output", [SMALL, SMALL.encode(), ("é" * 10_000).encode(), "", b"", None, 7, ["x" * 20_000],
               {"a": BIG}, bytearray(20_000)],
)  # fmt: skip
def test_what_is_not_oversized_or_no_output_stays_itself(agent, output):
    """The threshold counts characters, and is not oversized itself."""
    assert trackrecord.summarise(output) is output
    assert stored(agent) == []


def test_threshold_summary_and_maximum_are_settings(agent, monkeypatch):
    """Each is obeyed."""
    monkeypatch.setenv("TRACKRECORD_ARTIFACTS__THRESHOLD_CHARS", "1000")
    monkeypatch.setenv("TRACKRECORD_ARTIFACTS__SUMMARY_CHARS", "410")
    monkeypatch.setenv("TRACKRECORD_ARTIFACTS__MAX_BYTES", "5000")
    text = trackrecord.summarise("y" * 1001)
    assert len(text) <= 410
    cut = trackrecord.summarise("head" + "z" * 6000 + "tail")
    assert "its middle is gone" in cut
    kept = whole(id_in(cut))
    assert len(kept) <= 5000
    assert kept.startswith(b"head")
    assert kept.endswith(b"tail")
    assert b"the middle is gone" in kept


@pytest.mark.parametrize("how", ["read-only", "a file", "a link", "full"])
def test_what_cannot_be_stored_is_passed_on_unchanged(agent, tmp_path, monkeypatch, caplog, how):
    """And nothing claims to be retrievable that is not; the log says why, once."""
    agent.mkdir()
    if how == "read-only":
        if os.getuid() == 0:
            monkeypatch.setattr(os, "mkdir", _refuse)
        agent.chmod(0o500)
    elif how == "a file":
        (agent / "artifacts").write_text("in the way")
    elif how == "a link":
        (tmp_path / "elsewhere").mkdir()
        (agent / "artifacts").symlink_to(tmp_path / "elsewhere")
    else:
        monkeypatch.setattr(os, "write", _full)
    assert trackrecord.summarise(BIG) is BIG
    assert trackrecord.summarise(BIG.encode()) == BIG.encode()
    assert stored(agent) == []
    assert len([r for r in caplog.records if "passed on whole" in r.message]) == 1


def _refuse(*_args, **_kwargs):
    raise OSError(30, "Read-only file system")


def _full(*_args):
    raise OSError(28, "No space left on device")


def test_retrieval_a_page_at_a_time(agent):
    """By lines and by bytes; pages are no larger than the setting says."""
    artifact_id = id_in(trackrecord.summarise(BIG))
    page = trackrecord.artifact(artifact_id, lines=(3, 4))
    assert page.text == "line of an output\n" * 2
    assert trackrecord.artifact(artifact_id, bytes=(0, 3)).data == b"line"
    page = trackrecord.artifact(artifact_id)
    found = page.data
    assert len(found) <= 10_000
    while page.following is not None:
        page = trackrecord.artifact(
            artifact_id, bytes=(page.following.start, page.following.last), limit=3000
        )
        assert len(page.data) <= 3000
        found += page.data
    assert found == BIG.encode()


def test_what_was_retrieved_is_never_summarised_again(agent):
    """Neither as it came, nor by the wrapper of the tool that asked for it."""
    artifact_id = id_in(trackrecord.summarise(BIG))
    page = trackrecord.artifact(artifact_id, limit=None)
    assert trackrecord.summarise(page.text) == BIG
    assert trackrecord.summarise(page.data) == BIG.encode()

    @trackrecord.summarised
    def read(prefix):
        return prefix + trackrecord.artifact(artifact_id, limit=None).text

    @trackrecord.summarised
    def outer():
        return "outer: " + read("inner: ")

    assert read("here: ") == "here: " + BIG
    assert outer() == "outer: inner: " + BIG

    @trackrecord.summarised
    async def read_later():
        return "x" + (await asyncio.to_thread(trackrecord.artifact, artifact_id, limit=None)).text

    assert asyncio.run(read_later()) == "x" + BIG

    @trackrecord.summarised
    def fresh():
        return BIG

    assert fresh() != BIG


def test_what_another_process_retrieved_is_not_summarised_either(agent):
    """A shell that runs `trackrecord artifacts get` gives the very bytes, perhaps stripped."""
    output = "\n" + BIG
    artifact_id = id_in(trackrecord.summarise(output))
    assert trackrecord.summarise(output) != output  # made again, it is an output like any other

    def get():
        ran = subprocess.run(
            [sys.executable, "-m", "trackrecord_cli", "artifacts", "get", artifact_id],
            env={**os.environ, "TRACKRECORD_HOME": str(agent)}, capture_output=True, timeout=200,
            check=True,
        )  # fmt: skip
        return ran.stdout

    got = get()
    assert trackrecord.summarise(got, project="shop") != got
    assert trackrecord.summarise(got) == output.encode()
    assert trackrecord.summarise(got) != got  # once for each time
    assert trackrecord.summarise(get().decode().strip()) == output.strip()
    get()
    (note,) = agent.glob("artifacts/*/.retrieved-*")
    os.utime(note, (0, 0))
    assert trackrecord.summarise(got) != got


def test_wrapped_tools(agent):
    """Sync and async, with and without arguments of the decorator; names and arguments stay."""

    @trackrecord.summarised
    def plain(times, *, text="ab"):
        """Doc."""
        return text * times

    @trackrecord.summarised(project="shop")
    async def later(times):
        return b"ab" * times

    class Callable:
        async def __call__(self):
            return BIG

    assert (plain.__name__, plain.__doc__) == ("plain", "Doc.")
    assert plain(3, text="x") == "xxx"
    assert whole(id_in(plain(10_000))) == b"ab" * 10_000
    assert asyncio.run(later(2)) == b"abab"
    text = asyncio.run(later(10_000))
    assert whole(id_in(text.decode()), project="shop") == b"ab" * 10_000
    assert asyncio.iscoroutinefunction(later)
    for tool in (Callable(), functools.partial(later, 10_000)):
        assert b"artifact" in _as_bytes(asyncio.run(trackrecord.summarised(tool)()))


def _as_bytes(output):
    return output if isinstance(output, bytes) else output.encode()


def test_the_disk_is_waited_for_beside_the_event_loop(agent, monkeypatch):
    """Other tasks go on while an output is stored."""
    seen = []
    sync = os.fsync

    def slow(fd):
        seen.append(threading.current_thread() is threading.main_thread())
        sync(fd)

    monkeypatch.setattr(os, "fsync", slow)

    @trackrecord.summarised
    async def tool():
        return BIG

    assert "artifact" in asyncio.run(tool())
    assert seen
    assert not any(seen)


class Boom(BaseException):
    """No Exception even."""


@pytest.mark.parametrize("error", [ValueError("x"), Boom(), KeyboardInterrupt(), StopIteration(3)])
def test_what_a_tool_raises_is_raised_as_it_is(agent, error):
    """The very object."""

    @trackrecord.summarised
    def tool():
        raise error

    with pytest.raises(type(error)) as raised:
        tool()
    assert raised.value is error


def test_what_an_async_tool_raises_is_raised_as_it_is(agent):
    """Cancellation, too."""

    @trackrecord.summarised
    async def tool():
        await asyncio.sleep(30)

    async def cancel():
        task = asyncio.create_task(tool())
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())
