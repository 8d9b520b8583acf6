"""An agent stores a memory: fire and forget, over the same queue, stream and spool as outcomes."""

import json

import pytest

import trackrecord
from trackrecord_producers.publishing.memory_call import remember

PROGRAM = """
import trackrecord
memory_id = trackrecord.remember("Use uv\\nfor Python", source="agent-a")
trackrecord.publish(task_id="t", success=True)
print(memory_id, trackrecord.dropped())
"""


def memories_on(client, settings):
    entries = client.xrange(settings.keys.outcomes)
    return [json.loads(fields[b"memory"]) for _, fields in entries if b"memory" in fields]


def test_it_goes_onto_the_stream(agent_settings, agent_says, client):
    """Beside the outcomes, with its id and the project of the settings."""
    (said,) = agent_says(agent_settings, PROGRAM)
    memory_id, dropped = said.split(" ")
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
