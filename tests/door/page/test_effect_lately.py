"""The effect on the overview: what was measured last, without waiting for it."""

import time

import pytest

from trackrecord.errors import UnknownProject
from trackrecord_door.page.views import overview as recent_effect
from trackrecord_door.page.views.overview import RecentEffects
from trackrecord_door.query_service import QueryService


@pytest.fixture
def service(shown_store):
    service = QueryService(shown_store.settings)
    yield service
    service.close()


def until(found):
    deadline = time.monotonic() + 60
    while (value := found()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return value


def test_it_is_measured_once_until_something_changes(service, shown_store, monkeypatch):
    """What did not change is not measured again; what did is, but not with every look."""
    shown_store.teach("lately", [{"success": True, "task_id": "t1"}])
    shown_store.hand_out("lately", [("t1", ["x"], False)])
    lately = RecentEffects(service)
    first = until(lambda: lately.of("lately"))
    assert first.effect.report.tasks == (1, 0)
    assert lately.of("lately") is first

    shown_store.teach("lately", [{"success": True, "task_id": "t2", "outcome_id": "o2"}])
    shown_store.hand_out("lately", [("t1", ["x"], False), ("t2", ["x"], False)])
    again = lately.of("lately")  # a moment after the first
    assert again.effect is first.effect
    assert not again.is_current
    monkeypatch.setattr(recent_effect, "_EVERY_S", 0.0)
    second = until(lambda: current(lately.of("lately")))
    assert second.effect.report.tasks == (2, 0)
    assert second.at > first.at


def current(found):
    return found if found.is_current else None


def test_what_fails_is_said_and_tried_again(service):
    """To whoever looks next."""
    with pytest.raises(UnknownProject):
        RecentEffects(service).of("nobody's")
