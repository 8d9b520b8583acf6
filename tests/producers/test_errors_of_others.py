"""What other processes record of a task enters what the attempt at it reports."""

import json
import subprocess
import sys
import time

import trackrecord_producers.publishing.adopt_errors as adoption
from tests.producers.what_became import arrived, hanging, spooled
from trackrecord.wire.outcome import encode_body
from trackrecord_producers.delivery.waiting import WaitingItem

OTHER = """
        import subprocess, sys, trackrecord
        def other(count, task="t"):
            code = f"import trackrecord as t; [t.record_error({task!r}, 'timeout', str(n)) for n in range({count})]"
            subprocess.run([sys.executable, "-c", code], check=True)
"""  # noqa: E501 - one line of an agent's code


def counts(client):
    return [(body["task_id"], body["error_count"]) for body in arrived(client)]


def test_they_are_counted_by_the_attempt_that_is_going_on(agent, client):
    """And by no later one; what it met itself is counted once.

    The outermost attempt at a task counts them, and a count that the agent gives is left as it is.
    """
    done = agent(
        OTHER
        + """
        with trackrecord.attempt("t") as ours:
            ours.error("our own")
            trackrecord.record_error("t", "conflict", "our own, too")
            other(2)
        other(1)
        with trackrecord.attempt("t"):
            assert trackrecord.error_stats("t").total == 5
        with trackrecord.attempt("v"):
            with trackrecord.attempt("v") as inner:
                inner.error("m")
                other(1, "v")
            with trackrecord.attempt("w") as given:
                other(1, "w")
                given.note(error_count=0)
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert counts(client) == [("t", 4), ("t", 0), ("v", 1), ("w", 0), ("v", 1)]


def test_by_another_thread_too(agent, client):
    """It does not know of the attempt: the context is another one."""
    done = agent(
        """
        import threading, trackrecord
        with trackrecord.attempt("t"):
            told = threading.Thread(target=trackrecord.record_error, args=("t", "timeout", "m"))
            told.start()
            told.join()
        trackrecord.flush(40)  # on a busy machine the time that an end has may be too short
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert counts(client) == [("t", 1)]


def test_nobody_waits_for_them(agent, home, hung_port):
    """While Redis hangs attempt and process end soon; spooled is what the attempt counted."""
    done = agent(
        """
        import atexit, time, trackrecord
        began = time.monotonic()
        atexit.register(lambda: print(time.monotonic() - began))
        with trackrecord.attempt("t") as ours:
            ours.error("m")
        """,
        **hanging(hung_port, "60"),
    )
    assert done.returncode == 0, done.stderr
    # The server's own time-out is a minute.
    assert float(done.stdout) < 40.0
    assert [body["error_count"] for body in spooled(home)] == [1]


def test_the_rest_of_the_outcome_travels_as_it_was_written(client, agent_settings):
    """Byte for byte, numbers that a float cannot hold included."""
    metadata = '{"n":123456789012345678901234567890,"x":0.1000000000000000055,"文":"\\u00e9"}'
    plain = encode_body({"task_id": "t", "outcome_id": "o", "success": True, "error_count": 2})
    body = plain[:-1] + b',"metadata":' + metadata.encode() + b"}"
    began = time.monotonic() - 60
    subprocess.run(
        [sys.executable, "-c", "import trackrecord as t; t.record_error('t', 'timeout', 'm')"],
        check=True,
        env={"TRACKRECORD_HOME": str(agent_settings.home), "TRACKRECORD_REDIS_TIMEOUT_S": "20"},
    )
    items = [
        WaitingItem(body, names_project=False, adopts_since=began),
        WaitingItem(body, False, None),
    ]
    adopted, untouched = adoption.with_adopted_errors(client, agent_settings, items)
    assert untouched == items[1]
    assert json.loads(adopted.body)["error_count"] == 3
    assert adopted.body.endswith(metadata.encode() + b"}")
    assert adoption.with_adopted_errors(client, agent_settings, items)[0] == adopted
