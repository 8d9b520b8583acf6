"""Processes that fork, end, or are ended: each outcome is published once, by its own process."""

import collections

import pytest

from tests.producers.what_became import hanging, kept, spooled

pytestmark = pytest.mark.faults


def _tasks(client, home):
    """Return how many outcomes of each task are kept: in Redis, or in the spool after a timeout."""
    return collections.Counter(kept(client, home).values())


def _check(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_ending_right_after_publishing_loses_nothing(agent, client, home):
    """The interpreter ends while the thread still imports what it needs."""
    done = agent(
        """
        import sys, trackrecord
        for n in range(100):
            trackrecord.publish(task_id=str(n), success=True)
        sys.exit(0)
        """
    )
    _check(done)
    assert _tasks(client, home) == {str(n): 1 for n in range(100)}


def test_ending_while_the_server_hangs_does_not_wait_for_its_timeouts(agent, home, hung_port):
    """The rest goes to the spool after `flush_timeout_s`."""
    done = agent(
        """
        import atexit, time, trackrecord
        begin = time.monotonic()
        atexit.register(lambda: print(time.monotonic() - begin))
        for n in range(100):
            trackrecord.publish(task_id=str(n), success=True)
        """,
        **hanging(hung_port, "600"),
    )
    assert done.returncode == 0, done.stderr
    # Two seconds on an idle machine; the server's own timeouts are ten minutes each.
    assert float(done.stdout) < 200.0
    assert {body["task_id"] for body in spooled(home)} == {str(n) for n in range(100)}


def test_publishing_while_the_interpreter_ends_goes_to_the_spool(agent, client, home):
    """The thread is gone by then; the caller's thread writes the outcome."""
    done = agent(
        """
        import atexit, trackrecord
        # Registered before the publisher's own, so called after it.
        atexit.register(lambda: trackrecord.publish(task_id="late", success=True))
        trackrecord.publish(task_id="early", success=True)
        """
    )
    _check(done)
    assert _tasks(client, home) == {"early": 1, "late": 1}
    assert "late" in [body["task_id"] for body in spooled(home)]


def test_parent_and_child_of_a_fork_publish_on_their_own(agent, client, home):
    """A child does not publish what its parent has waiting."""
    done = agent(
        """
        import os, sys, trackrecord
        trackrecord.publish(task_id="parent-before", success=True)
        for n in range(5):
            trackrecord.publish(task_id="parent-waiting", success=True)
            if os.fork() == 0:
                assert trackrecord.stats().waiting == 0
                trackrecord.publish(task_id="child", success=True)
                sys.exit(0 if trackrecord.flush(40) else 1)
        trackrecord.publish(task_id="parent-after", success=True)
        codes = [os.waitpid(-1, 0)[1] for _ in range(5)]
        assert codes == [0] * 5, codes
        """
    )
    _check(done)
    assert _tasks(client, home) == {
        "parent-before": 1,
        "parent-waiting": 5,
        "child": 5,
        "parent-after": 1,
    }


# Prints the modules that are looked for while nothing keeps the process from forking.
WATCHING = """
import sys, trackrecord
from trackrecord.process import forking

unguarded = set()

class Watch:
    def find_spec(self, name, path=None, target=None):
        if not forking._guard.lock._is_owned():
            unguarded.add(name)

def watch():
    sys.meta_path.insert(0, Watch())
"""


@pytest.mark.parametrize("url", ["", "redis://localhost:1/0"])
def test_nothing_is_imported_while_a_fork_may_come_in_between(url, agent, client, tmp_path):
    """A child would be left with half a module, and so would the agent's code in it."""
    file = tmp_path / "trackrecord.toml"
    file.write_text('project = "shop"')
    done = agent(
        WATCHING
        + """
attempt, rankings = trackrecord.attempt, trackrecord.rankings
watch()
trackrecord.publish(task_id="t", success=True)
trackrecord.flush(60)
with attempt("t"):
    pass
trackrecord.flush(60)
rankings(task="fix the build")
print(unguarded)
""",
        TRACKRECORD_REDIS_URL=url,
        TRACKRECORD_CONFIG=str(file),
    )
    assert done.stdout.strip() == "set()", done.stderr


def test_a_fork_from_a_thread_while_others_publish_does_not_deadlock(agent, client, home):
    """Whatever the other threads were at, the child can publish."""
    done = agent(
        """
        import os, sys, threading, time, trackrecord
        go_on = True

        def work():
            while go_on:
                trackrecord.publish(task_id="noise", success="invalid")
                trackrecord.publish(task_id="parent", success=True)
                time.sleep(0)  # let the others have their turn, the one that forks too

        threads = [threading.Thread(target=work) for _ in range(3)]
        [thread.start() for thread in threads]
        statuses = []
        for n in range(20):
            pid = os.fork()
            if pid == 0:
                trackrecord.publish(task_id="noise", success="invalid")
                accepted = trackrecord.publish(task_id="child", success=True)
                trackrecord.flush(60)
                os._exit(0 if accepted and trackrecord.stats().waiting == 0 else 1)
            statuses.append(os.waitpid(pid, 0)[1])
        go_on = False
        [thread.join() for thread in threads]
        assert statuses == [0] * 20, statuses
        """
    )
    assert done.returncode == 0, done.stderr
    assert _tasks(client, home)["child"] == 20


def test_a_childs_copy_does_not_keep_the_parents_spool_file_locked(agent, home):
    """The child outlives its parent; the parent's file must be free for a forwarder."""
    done = agent(
        """
        import os, sys, time, trackrecord
        trackrecord.publish(task_id="parent", success=True)
        assert trackrecord.flush(60)
        assert trackrecord.stats().spooled == 1
        read, write = os.pipe()
        if os.fork() == 0:
            os.close(write)
            os.read(read, 1)  # until the parent is gone
            time.sleep(0.1)
            import fcntl
            from pathlib import Path
            (file,) = Path(os.environ["TRACKRECORD_HOME"], "spool").iterdir()
            with file.open("rb") as opened:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            print("free", flush=True)
            os._exit(0)
        os.close(read)
        os._exit(0)
        """,
        TRACKRECORD_REDIS_URL="redis://127.0.0.1:1/0",
    )
    assert done.stdout.strip() == "free", done.stderr
    assert len(spooled(home)) == 1
