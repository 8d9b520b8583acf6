"""The forms that are awaited do what the calls do, and hold up nobody's event loop."""

import asyncio
import inspect
import json
import os
import subprocess
import sys
import time

import pytest

import trackrecord
from tests.producers.what_became import hanging
from trackrecord.errors import UnknownId
from trackrecord.testing import captured, rankings_of

FORMS = [
    name
    for name in trackrecord.__all__
    # Python 3.12 takes the module `inspect` itself for a coroutine function.
    if inspect.isfunction(form := getattr(trackrecord, name)) and inspect.iscoroutinefunction(form)
]

# How long a server that hangs is waited for.
WAIT_S = "1.5"
# In a process of its own, so that the first call is measured with all that it imports.
AWAITED = """
import asyncio, json, sys, time

longest = 0.0

async def tick():
    global longest
    while True:
        begin = time.monotonic()
        await asyncio.sleep(0.01)
        longest = max(longest, time.monotonic() - begin)

async def main():
    import trackrecord
    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.01)
    begin = time.monotonic()
    await asyncio.gather(*map(eval, sys.argv[1:]), return_exceptions=True)
    waited = time.monotonic() - begin
    await asyncio.sleep(0)
    ticking.cancel()
    print(json.dumps({"waited": waited, "longest": longest}))

asyncio.run(main())
"""
WAITING_CALLS = {
    "redis": ["arankings()"] * 100 + [
        "arankings(task='fix the build')", "acontext(task='fix the build')",
        "aerror_context('t')", "aerror_stats('t')", "aweigh({'readable': 1})",
    ],
    "database": ["arecall('x')", "aconfirm_memory('x')", "apromote_pattern('x')", "alist_runs()"],
}  # fmt: skip


def started(program, calls, port):
    return subprocess.Popen(
        [sys.executable, "-c", program, *(f"trackrecord.{call}" for call in calls)],
        env={
            **os.environ,
            **hanging(port, WAIT_S),
            "TRACKRECORD_DATABASE_URL": f"postgresql://me@127.0.0.1:{port}/x",
            "TRACKRECORD_DATABASE_TIMEOUT_S": "2",
        },
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.faults
@pytest.mark.parametrize("server", WAITING_CALLS)
def test_while_a_server_hangs_the_loop_goes_on(server, hung_port):
    """Held up for a small part of the wait; many that wait at once give it up together."""
    with started(AWAITED, WAITING_CALLS[server], hung_port) as awaited:
        seen = json.loads(awaited.communicate(timeout=200)[0])
    assert float(WAIT_S) <= seen["waited"] < 25 * float(WAIT_S)
    assert seen["longest"] < seen["waited"] / 5


@pytest.mark.faults
def test_who_stops_awaiting_goes_on_at_once(hung_port):
    """A timeout of the agent's own ends the wait, although the thread is still asking."""
    program = """
import asyncio, time, trackrecord

async def main():
    begin = time.monotonic()
    try:
        await asyncio.wait_for(trackrecord.arankings(), 0.01)
    except TimeoutError:
        print(time.monotonic() - begin)

asyncio.run(main())
"""
    with started(program, [], hung_port) as process:
        waited_s = float(process.communicate(timeout=200)[0])
    assert waited_s < float(WAIT_S) / 2
    assert process.returncode == 0


@pytest.mark.parametrize("form", FORMS)
def test_signatures_are_those_of_the_calls(form):
    """Names, defaults and kinds of parameters."""
    ours, theirs = (inspect.signature(getattr(trackrecord, name)) for name in (form, form[1:]))
    assert [(each.name, each.kind, each.default) for each in ours.parameters.values()] == [
        (each.name, each.kind, each.default) for each in theirs.parameters.values()
    ]


def test_each_call_that_may_wait_has_a_form():
    """And each form is exported."""
    assert {f"a{name}" for name in WAITS} == set(FORMS)
    assert set(FORMS) <= set(trackrecord.__all__)


# The rest of what is exported neither waits for a server nor for a disk.
WAITS = {
    "after_failure", "artifact", "context", "error_context", "error_stats", "flush", "forget",
    "list_errors",
    "rankings", "record_error", "resolve_error", "spool", "summarise",
} | {
    name for name in trackrecord.__all__
    if getattr(trackrecord, name).__module__.startswith("trackrecord.resources.")
    and not inspect.iscoroutinefunction(getattr(trackrecord, name))
}  # fmt: skip


def test_they_answer_as_the_calls_do(home, monkeypatch):
    """With the context of the task that awaits: its attempt, and what a test has given it."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))

    async def main():
        async with trackrecord.attempt("t") as attempt:
            error_id = await trackrecord.arecord_error("t", "timeout", "no answer")
            assert "no answer" in await attempt.aerror_context()
            assert await attempt.aerror_context() == await trackrecord.aerror_context("t")
            await trackrecord.aresolve_error(error_id)
            assert (await trackrecord.aerror_stats("t")).unresolved == 0
            assert [each.id for each in await trackrecord.alist_errors("t")] == [error_id]
            assert await trackrecord.alist_errors(unresolved=True) == []
            with pytest.raises(UnknownId):
                await trackrecord.aresolve_error("nonsense")
        assert await trackrecord.aspool(task_id="u", success=True, strategy="file-based")
        assert await trackrecord.aflush()
        assert "port 5432" in (await trackrecord.arankings()).prompt
        assert "port 5432" in (await trackrecord.acontext(task="port")).prompt

    with captured() as published, rankings_of(memories=["Use port 5432"]):
        asyncio.run(main())
    assert [outcome.task_id for outcome in published.outcomes] == ["t", "u"]
    assert published.outcomes[0].error_count == 1


def test_on_another_kind_of_loop_the_call_is_made_in_place():
    """Where asyncio is not running there is no thread to hand it to, and it must not fail."""
    with rankings_of(memories=["Use port 5432"]):
        coroutine = trackrecord.arankings()
        with pytest.raises(StopIteration) as returned:
            coroutine.send(None)
    assert "port 5432" in returned.value.value.prompt


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of Python 3.12
def test_a_forked_child_has_threads_of_its_own():
    """Its parent's are not there any more."""

    async def ask():
        return (await asyncio.wait_for(trackrecord.arankings(), 30)).prompt

    with rankings_of(memories=["Use port 5432"]):
        assert "port 5432" in asyncio.run(ask())
        child = os.fork()
        if child == 0:
            os._exit(0 if "port 5432" in asyncio.run(ask()) else 1)
        deadline = time.monotonic() + 60
        while not (status := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < deadline:
            time.sleep(0.01)
    assert status == (child, 0)
