"""Processes that are ended in the middle of something lose none of what `publish` accepted.

Each test runs real processes: what is lost depends on where the end comes.
"""

import collections
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from tests.producers.what_became import arrived, hanging, kept, spooled
from tests.support.processes import until

pytestmark = pytest.mark.faults

AGENT = """\
import os, time, trackrecord

def work(n):
    return trackrecord.publish(task_id=f"child-{n}", success=True)

def work_slowly(n):
    time.sleep(0.02)
    return work(n)
"""


@pytest.fixture
def agent_module(home):
    """A module that children of any start method can import; its folder."""
    (home / "agent_module.py").write_text(AGENT)
    return home


def _expected(count):
    return {f"child-{n}": 1 for n in range(count)}


def _tasks(client, home):
    return collections.Counter(kept(client, home).values())


@pytest.mark.parametrize(
    ("method", "function"),
    [("fork", "work"), ("fork", "work_slowly"), ("spawn", "work_slowly"), ("forkserver", "work")],
)
def test_a_pool_that_is_terminated_keeps_everything(method, function, agent, agent_module, client):
    """`with Pool() as pool` ends its processes by SIGTERM as soon as map has come back."""
    count = 200 if method == "fork" else 50
    done = agent(
        f"""
        import sys
        sys.path.insert(0, {str(agent_module)!r})
        import multiprocessing, agent_module
        if __name__ == "__main__":
            context = multiprocessing.get_context({method!r})
            with context.Pool(4) as pool:
                ids = pool.map(agent_module.{function}, range({count}))
            assert None not in ids
        """
    )
    assert done.returncode == 0, done.stderr
    assert _tasks(client, agent_module) == _expected(count)


@pytest.mark.parametrize("hangs", [False, True])
def test_children_that_are_killed_or_leave_by_exit_keep_everything(
    hangs, agent, agent_module, client, hung_port
):
    """Nobody is called back at os._exit and SIGKILL, and nothing is lost, even beside a hung Redis.

    The processes of Celery's pools end like this when they are recycled. What others forward is of
    the project of the process that published it.
    """
    environment = {"TRACKRECORD_PROJECT": "shop"}
    if hangs:
        environment["TRACKRECORD_REDIS_URL"] = f"redis://127.0.0.1:{hung_port}/0"
    done = agent(
        f"""
        import sys
        sys.path.insert(0, {str(agent_module)!r})
        import os, signal, agent_module, trackrecord
        for n in range(20):
            if os.fork() == 0:
                agent_module.work(n)
                os._exit(0) if n % 2 else os.kill(os.getpid(), signal.SIGKILL)
            os.wait()
        """,
        **environment,
    )
    assert done.returncode == 0, done.stderr
    assert _tasks(client, agent_module) == _expected(20)
    assert {body["project"] for body in arrived(client) + spooled(agent_module)} == {"shop"}


def test_what_a_journal_holds_is_empty_soon_after_it_was_sent(agent, agent_module, client):
    """No other forwards what a child has sent itself; one that ends in good order leaves none."""
    done = agent(
        f"""
        import sys
        sys.path.insert(0, {str(agent_module)!r})
        import os, pathlib, time, agent_module, trackrecord
        if os.fork() == 0:
            for n in range(100):
                agent_module.work(n)
            assert trackrecord.flush(60)
            (journal,) = pathlib.Path({str(agent_module)!r}, "spool").iterdir()
            while journal.stat().st_size:
                time.sleep(0.01)
            agent_module.work(100)
            assert trackrecord.flush(60)
            print(trackrecord.stats().sent, flush=True)
            sys.exit()
        assert os.wait()[1] == 0
        """
    )
    assert (done.returncode, done.stdout.strip()) == (0, "101"), done.stderr
    assert len(arrived(client)) == 101
    assert list((agent_module / "spool").iterdir()) == []


def test_a_child_whose_spool_cannot_be_written_still_sends(agent, agent_module, client):
    """The log says that its outcomes are not safe if it is killed."""
    (agent_module / "spool").write_text("not a folder")
    done = agent(
        f"""
        import sys
        sys.path.insert(0, {str(agent_module)!r})
        import os, agent_module, trackrecord
        if os.fork() == 0:
            agent_module.work(0)
            sys.exit(0 if trackrecord.flush(60) else 1)
        assert os.wait()[1] == 0
        """
    )
    assert done.returncode == 0, done.stderr
    assert [body["task_id"] for body in arrived(client)] == ["child-0"]
    assert "not safe if it is killed" in done.stderr


SCRIPT = """
import os, signal, sys, threading, time, trackrecord
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup make test` hands on that it is ignored
{before}
{publish}
print("published", flush=True)
while True:  # a signal that comes just before a sleep is only seen after it
    time.sleep(0.05)
"""
IN_MAIN_THREAD = """
for n in range(5):
    trackrecord.publish(task_id=f"child-{n}", success=True)
"""
IN_OTHER_THREAD = """
def work():
    for n in range(5):
        trackrecord.publish(task_id=f"child-{n}", success=True)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def _signalled(home, number, *, publish=IN_MAIN_THREAD, before="", **environment):
    """Run a script, send it a signal as soon as it has published, and return how it ended."""
    script = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT.format(before=before, publish=publish))],
        env={**os.environ, "TRACKRECORD_HOME": str(home), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with script:
        try:
            assert script.stdout is not None
            assert script.stdout.readline() == "published\n"
            script.send_signal(number)
            output, errors = script.communicate(timeout=200)
        finally:
            script.kill()  # one that did not end would be waited for without end
    assert "Traceback" not in errors
    return script.returncode, output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("publish", [IN_MAIN_THREAD, IN_OTHER_THREAD])
def test_a_script_that_is_told_to_end_keeps_everything(number, publish, home, client):
    """And it ends by the signal, as it would have without trackrecord."""
    ended, _ = _signalled(home, number, publish=publish)
    assert ended == -number
    assert _tasks(client, home) == _expected(5)


def test_the_programs_own_handler_is_not_touched(home, client):
    """It decides how the process ends; atexit then brings everything out."""
    before = "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b'mine\\n'), sys.exit(3)))"
    assert _signalled(home, signal.SIGTERM, before=before) == (3, "mine\n")
    assert _tasks(client, home) == _expected(5)


def test_an_ignored_signal_stays_ignored(home, client):
    """As under nohup."""
    before = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    publish = IN_MAIN_THREAD + "os.kill(os.getpid(), signal.SIGHUP)"
    assert _signalled(home, signal.SIGTERM, before=before, publish=publish)[0] == -signal.SIGTERM
    assert _tasks(client, home) == _expected(5)


def test_a_second_signal_ends_at_once(home, hung_port):
    """Whoever is impatient does not wait for Redis."""
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(before="", publish=IN_MAIN_THREAD)],
        env={
            **os.environ,
            "TRACKRECORD_HOME": str(home),
            **hanging(hung_port, "60"),
            "TRACKRECORD_FLUSH_TIMEOUT_S": "60",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with script:
        assert script.stdout is not None
        script.stdout.readline()
        # Until the first one is being dealt with, two are one.
        until(lambda: script.send_signal(signal.SIGTERM) or script.poll() is not None, 50)
    assert script.returncode == -signal.SIGTERM


def test_a_process_that_is_ended_while_it_puts_something_into_the_queue_ends(agent, home, client):
    """The thread that empties it is about to start, and needs no lock that this one holds."""
    done = agent(
        """
        import collections, os, signal, sys, trackrecord

        class Items(collections.deque):
            def append(self, item):
                super().append(item)
                if len(self) == 2:
                    os.kill(os.getpid(), signal.SIGTERM)

        module = sys.modules["trackrecord_producers.publishing.publish"]
        module._publisher._writer.queue._items = Items()
        for n in range(2):
            trackrecord.publish(task_id=f"child-{n}", success=True)
        """
    )
    assert done.returncode == -signal.SIGTERM, done.stderr
    assert _tasks(client, home) == _expected(2)
