"""A decision is in the next prompt, whichever surface it came from, without any worker."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

import trackrecord
from trackrecord.learning.competences.new_record import NewCompetence
from trackrecord.prompt.reading.cache import cached_ages
from trackrecord.resources.access.project_store import ProjectStore, given_stores
from trackrecord.resources.experience.competences import add_procedures
from trackrecord.resources.figures.effect import hold_out
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.testing import store_of

OUTCOME = {"task_id": "t", "success": True, "patterns": ["plan"]}


@pytest.fixture
def learnt(home: Path, redis_server: object) -> Iterator[ProjectStore]:
    """A store in which one outcome is learnt, beside a Redis in which nothing is cached."""
    settings = DaemonSettings(home=home)
    with store_of(outcomes=[OUTCOME], memories=["The tests need a database"]):
        store = replace(cast("ProjectStore", given_stores.get()), settings=settings)
        with given_stores.within(store):
            yield store


PROCEDURE = NewCompetence(triggers=("type_error",), tools=("grep", "edit"))
CHANGES: dict[str, Callable[[ProjectStore], object]] = {
    "deprecate": lambda _: trackrecord.deprecate_pattern("plan", reason="no"),
    "tag": lambda _: trackrecord.tag_pattern("plan", add=["ui"]),
    "memory confirmed": lambda _: trackrecord.confirm_memory("memory-1"),
    "memory rejected": lambda _: trackrecord.reject_memory("memory-1"),
    "memory forgotten": lambda _: trackrecord.forget_memory("memory-1"),
    "feedback": lambda _: trackrecord.give_feedback("helpful", pattern="plan"),
    "hold out": lambda store: hold_out(store.engine, store.settings, "default", 0.5, by="me"),
    "procedure": lambda _: add_procedures([PROCEDURE], by="me", reason="known", project="default"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_rankings_are_cached_at_once(learnt, client, change):
    """Nobody has to wait for a worker's next round."""
    CHANGES[change](learnt)
    assert cached_ages(client, learnt.settings, ["default"], now=0.0)
