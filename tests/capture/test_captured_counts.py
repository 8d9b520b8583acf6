"""The counts of what is captured: by source, and by the reason of what is lost."""

from pathlib import Path

import pytest

from trackrecord.settings import load_settings
from trackrecord_capture.agents.known import AGENTS
from trackrecord_capture.history.capture_counts import CountedSinks
from trackrecord_capture.history.sink import SpoolingSink
from trackrecord_producers.publishing.publisher import Publisher


@pytest.fixture
def captured() -> CountedSinks:
    """The counts of the agents that are known."""
    return CountedSinks(AGENTS)


def test_every_source_begins_at_0(captured: CountedSinks) -> None:
    """So that its first entry is seen as a rise."""
    assert captured.counts().published == dict.fromkeys((*AGENTS, "traces"), 0)
    assert captured.counts().dropped == {}


def test_entries_are_counted_by_source(captured: CountedSinks, home: Path) -> None:
    """An agent that is not known does not become a source, whatever it is called."""
    settings = load_settings(home=home)
    publisher = Publisher(lambda: settings)
    sink = SpoolingSink(publisher, captured)
    for fields in (
        {"source": "codex", "captured_from": "transcript"},
        {"source": "codex"},
        {"source": "my own agent", "captured_from": "traces"},
        {"source": "another one"},
    ):
        sink.publish({"task_id": "t", "success": True, **fields})
    assert sink.settle() == 0  # in the spool: there is no Redis
    found = {name: number for name, number in captured.counts().published.items() if number}
    assert found == {"codex": 2, "traces": 1, "other": 1}
    publisher.close()


def test_what_is_lost_is_counted_by_reason(captured: CountedSinks, home: Path) -> None:
    """And not as captured, unless it was accepted first."""
    settings = load_settings(home=home)
    publisher = Publisher(lambda: settings)
    sink = SpoolingSink(publisher, captured)
    sink.publish({"task_id": "", "success": "perhaps", "source": "codex"})
    assert sink.settle() == 1
    assert captured.counts().dropped == {"invalid": 1}
    assert captured.counts().published["codex"] == 0
    assert sink.settle() == 0
    assert captured.counts().dropped == {"invalid": 1}
    publisher.close()
