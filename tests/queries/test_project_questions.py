"""Questions to the store about projects, ids and outcomes, on both databases."""

import time

import pytest

from trackrecord.errors import AmbiguousId, UnknownId, UnknownProject
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.resources.access.project_store import ProjectStore, given_stores, project_row
from trackrecord.resources.experience.memories import whole_memory_id
from trackrecord.resources.operation.projects import count_projects, list_projects
from trackrecord.settings.settings import load_settings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.write import remember


@pytest.fixture
def remembered(store):
    """Stores memories under given ids in a project."""

    def call(project, *ids):
        with writing(store) as connection:
            row = ensure_projects(connection, [project])[project]
            for memory_id in ids:
                remember(
                    connection, row, f"fact {memory_id}", memory_id=memory_id,
                    rules=MemoryRules(), now=time.time(), force=True,
                )  # fmt: skip

    return call


def test_an_unknown_project_names_the_nearest_one(store, remembered):
    """Never a row that does not exist."""
    remembered("shop-frontend", "m-1")
    with reading(store) as connection:
        assert project_row(connection, "shop-frontend") > 0
        with pytest.raises(UnknownProject) as caught:
            project_row(connection, "shop-fronted")
        assert caught.value.nearest == "shop-frontend"
        with pytest.raises(UnknownProject, match="`trackrecord projects` lists"):
            project_row(connection, "zzz")


def test_projects_are_listed_with_their_counts(store, home, remembered):
    """By name, within a limit, and one alone; as many are counted."""
    remembered("b", "m-1", "m-2")
    remembered("a", "m-1")
    with given_stores.within(ProjectStore(store, load_settings(home=home), "default")):
        assert [(each.name, each.memories) for each in list_projects()] == [("a", 1), ("b", 2)]
        assert [each.name for each in list_projects(limit=1)] == ["a"]
        assert [each.name for each in list_projects(project="b")] == ["b"]
        counts = [count_projects(**given) for given in ({}, {"project": "b"})]
        assert counts == [2, 1]


def test_the_beginning_of_an_id_is_looked_up_in_its_project_only(store, remembered):
    """Letter case counts, and so do the characters that LIKE would read as wildcards."""
    remembered("a", "abcd-1", "abcd-2", "ABCDE", "per%cent")
    remembered("b", "abcd-3")
    with reading(store) as connection:
        assert whole_memory_id(connection, "b", "abcd") == "abcd-3"
        assert whole_memory_id(connection, "a", "ABCD") == "ABCDE"
        assert whole_memory_id(connection, "a", "abcd-2") == "abcd-2"
        assert whole_memory_id(connection, "a", "per%") == "per%cent"
        with pytest.raises(AmbiguousId, match="abcd-1, abcd-2"):
            whole_memory_id(connection, "a", "abcd")
        for unknown in ("abc", "a_cd", "%%%%", "", "x\0yz"):
            with pytest.raises(UnknownId):
                whole_memory_id(connection, "a", unknown)
