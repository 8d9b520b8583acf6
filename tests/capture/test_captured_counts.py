"""The counts of what capture loses, by reason."""

from pathlib import Path

from trackrecord.settings.settings import load_settings
from trackrecord_capture.history.counts import CountedSinks
from trackrecord_capture.history.sink import SpoolingSink
from trackrecord_producers.publishing.publisher import Publisher


def test_what_is_lost_is_counted_by_reason(home: Path) -> None:
    """Once; and what is spooled is not lost."""
    captured = CountedSinks()
    settings = load_settings(home=home)
    publisher = Publisher(lambda: settings)
    sink = SpoolingSink(publisher, captured)
    sink.publish({"task_id": "t", "success": True, "source": "codex"})
    assert sink.settle() == 0  # in the spool: there is no Redis
    sink.publish({"task_id": "", "success": "perhaps", "source": "codex"})
    assert sink.settle() == 1
    assert captured.dropped() == {"invalid": 1}
    assert sink.settle() == 0
    assert captured.dropped() == {"invalid": 1}
    publisher.close()
