"""Memories in pages: sorted and cut by the database as the whole list is by Python."""

import pytest

from tests.store.teaching import DAY, NOW, outcome, teach
from trackrecord.errors import InvalidRequest
from trackrecord.resources.access.project_store import ProjectStore, Transaction, given_stores
from trackrecord.resources.declaration.paging import Order
from trackrecord.resources.experience.browse_memories import causes_of_changes, memory_page
from trackrecord.resources.experience.memories import MEMORIES, list_memories, show_memory
from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord.store.advice.exposures import ReceivedExposure, record_exposures
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.browse import SORTED_BY
from trackrecord.store.memories.recall import PromptRecall, record_recalls
from trackrecord.store.memories.write import confirm, reject, remember
from trackrecord.wire.exposure import ExposureBody

SETTINGS = load_daemon_settings()
RULES = SETTINGS.memories
SORTING = MEMORIES.sorting("list")
TEXTS = ("Zebra ends", "ärger first", "Apple has BIG letters", "ärger again", "_ under", "b", "a")


@pytest.fixture
def project(store):
    """Memories of several agents and days, some of them judged."""
    with writing(store) as connection:
        (row,) = ensure_projects(connection, ["default"]).values()
        for number, text in enumerate(TEXTS):
            remember(
                connection, row, text, memory_id=f"m{number}", rules=RULES, force=True,
                now=NOW + number * DAY, source=("ana", "ben")[number % 2],
            )  # fmt: skip
    for day, name, judge in ((8, "m0", confirm), (9, "m5", reject), (9, "m5", reject)):
        with writing(store) as connection:
            judge(connection, row, name, rules=RULES, now=NOW + day * DAY)
    with writing(store) as connection:
        record_recalls(
            connection, row, [PromptRecall("m1", NOW + 5 * DAY, NOW + 5 * DAY)], rules=RULES
        )
    return row


def test_pages_are_parts_of_the_whole_list(store, project):
    """In every order, up and down; those without a value come last."""
    for key in SORTED_BY:
        for is_descending in (False, True):
            order = Order(key, is_descending)
            value_of = SORTING.keys[key]
            with given_stores.within(ProjectStore(store, SETTINGS, "default")):
                whole = SORTING.sorted(list_memories(), order)
            found = []
            with reading(store) as connection:
                for first in range(0, 9, 3):
                    it = Transaction(connection, SETTINGS, "default")
                    page = memory_page(it, order=order, first=first, limit=3)
                    assert page.total == len(TEXTS)
                    found += page.memories
            assert [*map(value_of, found)] == pytest.approx([*map(value_of, whole)]), order
            assert {each.id for each in found} == {each.id for each in whole}


def test_memories_are_filtered_and_searched(store, project):
    """Searched whatever the case, of any script, with the number of all that are found."""
    with reading(store) as connection:
        it = Transaction(connection, SETTINGS, "default")

        def ids(content=None, *, limit=9, **fields):
            page = memory_page(it, content=content, limit=limit, **fields)
            return [memory.id for memory in page.memories], page.total

        assert ids("ÄRGER") == (["m3", "m1"], 2)
        assert ids("ÄRGER", limit=1) == (["m3"], 2)
        assert ids("_") == (["m4"], 1)
        assert ids("%") == ([], 0)
        assert ids(source="ben") == (["m5", "m3", "m1"], 3)
        assert ids("b", source="ben", min_confidence=0.3) == ([], 0)
        assert ids(min_confidence=0.55) == (["m0"], 1)
        with pytest.raises(InvalidRequest, match="sorted by 'source'"):
            memory_page(it, order=Order("source"), limit=1)
        with pytest.raises(InvalidRequest, match="type must be one of memory, anti-pattern"):
            memory_page(it, type="fact", limit=1)


def test_what_brought_a_change_about_is_found(store, project):
    """The run that confirmed it, and the task that was handed it."""
    with writing(store) as connection:
        body = ExposureBody(task_id="t-shown", entries=("memory:m6",), at=NOW + 20 * DAY)
        received = [ReceivedExposure(body, "e1", NOW + 20 * DAY)]
        record_exposures(connection, {"default": project}, received)
        handed = [PromptRecall("m6", NOW + 20 * DAY, NOW + 20 * DAY, "e1")]
        record_recalls(connection, project, handed, rules=RULES)
    used = outcome(1, received=NOW + 21 * DAY, memory_ids=["m6"])
    teach(store, [used], now=NOW + 21 * DAY)
    with given_stores.within(ProjectStore(store, SETTINGS, "default")):
        changes = show_memory("m6").history
    with reading(store) as connection:
        causes = causes_of_changes(connection, "default", changes)
    assert [change.action for change in changes] == ["stored", "handed out", "confirmed"]
    assert causes.tasks == {"e1": "t-shown"}
    assert causes.runs["o1"].task_id == "t1"
    assert causes.runs["o1"].success is True
