"""An agent stores a memory: fire and forget, over the same queue, stream and spool as outcomes."""

import json
import os
import subprocess
import sys

import pytest

import trackrecord
from trackrecord_producers.publishing.memory_call import remember

PROGRAM = """
import sys, trackrecord
project = sys.argv[2] if sys.argv[2:] else None
memory_id = trackrecord.remember(sys.argv[1], source="agent-a", project=project)
trackrecord.publish(task_id="t", success=True)
print(memory_id, trackrecord.dropped())
"""


def agent(settings, *arguments):
    """A process of its own, which ends at once after it."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, *arguments],
        env={**os.environ, **settings.as_environment()},
        capture_output=True, text=True, timeout=200, check=True,
    )  # fmt: skip
    memory_id, _, dropped = ran.stdout.strip().partition(" ")
    return memory_id, dropped


def memories_on(client, settings):
    entries = client.xrange(settings.keys.outcomes)
    return [json.loads(fields[b"memory"]) for _, fields in entries if b"memory" in fields]


def test_it_goes_onto_the_stream(agent_settings, client):
    """Beside the outcomes, with its id and the project of the settings."""
    memory_id, dropped = agent(agent_settings, "Use uv\nfor Python")
    assert dropped == "{}"
    assert memories_on(client, agent_settings) == [
        {
            "project": "default", "memory_id": memory_id, "text": "Use uv\nfor Python",
            "force": False, "source": "agent-a",
        }
    ]  # fmt: skip
    assert client.xlen(agent_settings.keys.outcomes) == 2


@pytest.mark.parametrize("text", ["", " \n", "KNOWN PITFALL: ", None, 7, "x" * 2001])
def test_bad_ones_are_dropped_and_counted(text):
    """Nothing is raised, whatever is given."""
    before = trackrecord.dropped().get("invalid", 0)
    assert remember(text) is None
    assert trackrecord.dropped()["invalid"] == before + 1
