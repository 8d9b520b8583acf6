"""Which cached documents are looked at again, by a clock that the tests move."""

import pytest

from trackrecord_worker.caching import seen_documents
from trackrecord_worker.caching.seen_documents import SeenDocuments

MAX_AGE_S = 900.0
WEEK_S = 7 * 86_400
LOOK_EVERY_S = 2.0


class Clock:
    """The clock on the wall and the monotonic one, which show the same."""

    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def time(self) -> float:
        """Return the time."""
        return self.now

    monotonic = time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the documents' memory."""
    clock = Clock()
    monkeypatch.setattr(seen_documents, "time", clock)
    return clock


def renewed(
    seen: SeenDocuments, revisions: dict[str, int], cached_at: dict[str, float], clock: Clock
) -> list[str]:
    """Renew the documents that are too old, as callers do; return their projects."""
    names = []
    for name in seen.to_look_at(revisions):
        age_s = clock.now - cached_at[name]
        if age_s > seen.age_limit_s(revisions[name], age_s):
            names.append(name)
            cached_at[name], age_s = clock.now, 0.0
        seen.note(name, revisions[name], age_s)
    return names


def projects_of(clock: Clock, number: int) -> tuple[dict[str, int], dict[str, float]]:
    """Return the revisions of projects that have changed just now, and when each was cached."""
    names = [f"p{n}" for n in range(number)]
    return dict.fromkeys(names, int(clock.now * 1000)), dict.fromkeys(names, clock.now)


def test_old_documents_are_made_anew_one_after_the_other(clock):
    """Though they became old together: three in a minute, also of those looked at in turn."""
    seen = SeenDocuments(MAX_AGE_S, WEEK_S)
    revisions, cached_at = projects_of(clock, 1000)
    assert renewed(seen, revisions, cached_at, clock) == []
    clock.now += MAX_AGE_S + 1
    names = []
    for _ in range(30):
        names += renewed(seen, revisions, cached_at, clock)
        clock.now += LOOK_EVERY_S
    assert len(names) == len(set(names)) == 3


@pytest.mark.parametrize("ttl_s", [60, 3600, WEEK_S])
def test_a_document_is_made_anew_before_redis_removes_it(clock, ttl_s):
    """However short Redis keeps it, however many there are, and however quiet their projects."""
    seen = SeenDocuments(MAX_AGE_S, ttl_s)
    revisions, cached_at = projects_of(clock, 1000)
    end = clock.now + min(5 * ttl_s, 86_400)
    while clock.now < end:
        renewed(seen, revisions, cached_at, clock)
        assert clock.now - min(cached_at.values()) < ttl_s
        clock.now += ttl_s / 100


def test_of_the_old_documents_the_oldest_comes_first(clock):
    """So that none waits for ever where many become old again and again."""
    seen = SeenDocuments(MAX_AGE_S, WEEK_S)
    revisions, cached_at = projects_of(clock, 3)
    cached_at["p2"] -= 1
    assert renewed(seen, revisions, cached_at, clock) == []
    clock.now += MAX_AGE_S + 1
    assert renewed(seen, revisions, cached_at, clock) == ["p2"]
