"""publish: what it accepts, what it drops and counts, and that nothing of it reaches the agent."""

import json
import os
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.producers.what_became import arrived
from tests.support.processes import until
from trackrecord.errors import SettingsError
from trackrecord.settings.settings import load_settings
from trackrecord.wire.outcome import decode_outcome
from trackrecord_producers.bodies.body import build_body
from trackrecord_producers.delivery.ids import new_id
from trackrecord_producers.publishing.publisher import Publisher


class Unwritable:
    def __str__(self):
        raise RuntimeError


def test_the_settings_project_is_that_of_outcomes_that_name_none(home, client, publisher_of):
    """It is filled in before the outcome travels."""
    publisher = publisher_of(load_settings(home=home, project='a "quoted" 项目'))
    publisher.publish({"task_id": "1", "success": True})
    publisher.publish({"task_id": "2", "success": True, "project": None})
    publisher.publish({"task_id": "3", "success": True, "project": "other"})
    assert publisher.flush(60)
    assert [body["project"] for body in arrived(client)] == ['a "quoted" 项目'] * 2 + ["other"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"success": "secret"}, "success"),
        ({"outcome_source": "secret"}, "outcome_source"),
        ({"timestamp": "2026-01-02T00:00:00"}, "offset"),
        ({"timestamp": "secret"}, "ISO 8601"),
        ({"duration_ms": -1}, "duration_ms"),
        ({"metadata": ["secret"]}, "metadata"),
        ({"metadata": {"key": Unwritable()}}, "JSON"),
        ({"outcome_id": 7.5}, "outcome_id"),
        # Before the settings are known, which may allow less.
        ({"instruction": "secret" * 12_000_000}, "bytes"),
    ],
)
def test_what_is_no_outcome_is_dropped_counted_and_explained_once(fields, reason, caplog):
    """The log says what is wrong, without the content."""
    publisher = Publisher()
    for _ in range(3):
        assert publisher.publish({"task_id": "t", "success": True, **fields}) is None
    assert publisher.stats().dropped == {"invalid": 3}
    (line,) = caplog.messages
    assert "invalid" in line
    assert reason in line
    assert "secret" not in line


@pytest.mark.parametrize(
    ("odd", "shown"), [("a\ud83d", "a\ufffd"), ("a\0b", "a\ufffdb"), ("\ud83d\ude00", "😀")]
)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: {"instruction": text},
        lambda text: {"metadata": {text: [text, ("x", {text})]}},
        lambda text: {"tool_graph": [{"tool": "x", "result": Path(text), "args": {"y": text}}]},
    ],
)
def test_what_no_database_holds_is_replaced_and_counted(odd, shown, wrap):
    """Half an emoji and NUL; the rest of the outcome is taken."""
    publisher = Publisher()
    before = publisher.stats().mended
    _, body = build_body({"task_id": "t", "success": True, **wrap(odd)})
    assert shown in json.dumps(json.loads(body), ensure_ascii=False)
    assert odd not in body.decode()
    decode_outcome(body)
    assert publisher.stats().mended == before + 1


def test_a_body_too_large_for_the_settings_is_dropped_once_they_are_known(
    home, client, publisher_of
):
    """Also one that was accepted before."""
    publisher = publisher_of(load_settings(home=home, max_body_bytes=2000))
    publisher.publish({"task_id": "1", "success": True, "instruction": "x" * 3000})
    until(lambda: publisher.stats().dropped == {"invalid": 1})
    assert publisher.publish({"task_id": "2", "success": True, "instruction": "x" * 3000}) is None
    assert arrived(client) == []
    assert publisher.stats().dropped == {"invalid": 2}


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda children: st.lists(children) | st.dictionaries(st.text() | st.integers(), children),
    max_leaves=20,
)
_objects = _json | st.builds(Unwritable) | st.builds(object) | st.complex_numbers() | st.datetimes()


@given(
    task_id=_objects,
    success=_objects,
    fields=st.dictionaries(
        st.sampled_from(
            ["outcome_id", "timestamp", "project", "tool_graph", "criteria", "metadata", "cost"]
        )
        | st.text(min_size=1),
        _objects,
    ),
)
def test_whatever_is_published_nothing_is_raised(task_id, success, fields):
    """Each call either gives the id of an outcome that the worker accepts, or counts a drop."""
    publisher = Publisher(load_settings)
    publisher._writer.has_begun = True  # nothing is to be brought out
    fields = {**fields, "task_id": task_id, "success": success}
    outcome_id = publisher.publish(fields)
    stats = publisher.stats()
    assert (stats.published, sum(stats.dropped.values())) == ((1, 0) if outcome_id else (0, 1))
    if outcome_id:
        (waiting,) = publisher._writer.queue.seize()
        assert decode_outcome(waiting.body).outcome_id == outcome_id


def test_a_full_queue_drops_what_comes(caplog):
    """What waits stays, and the drop is counted."""
    publisher = Publisher()
    publisher._writer.has_begun = True  # nothing is brought out
    publisher._writer.queue.limit(2)
    ids = [publisher.publish({"task_id": "t", "success": True}) for _ in range(3)]
    assert ids[2] is None
    assert publisher.stats().waiting == 2
    assert publisher.stats().dropped == {"queue_full": 1}
    assert "TRACKRECORD_QUEUE_MAX" in caplog.text


def test_the_queue_is_bounded_in_bytes_too():
    """A few large outcomes fill it as many small ones do."""
    publisher = Publisher()
    publisher._writer.has_begun = True  # nothing is brought out
    publisher._writer.queue._max_bytes = 5000
    for _ in range(10):
        publisher.publish({"task_id": "t", "success": True, "instruction": "x" * 1000})
    assert publisher.stats().waiting == 4
    assert publisher.stats().dropped == {"queue_full": 6}


def test_wrong_settings_never_raise_and_are_named_in_the_log(caplog):
    """All that is published is counted as dropped."""

    def load():
        message = "setting queue_max: it is wrong"
        raise SettingsError(message)

    publisher = Publisher(load)
    publisher.publish({"task_id": "t", "success": True})
    until(lambda: bool(caplog.messages))
    assert not publisher.flush(1)
    assert publisher.publish({"task_id": "t", "success": True}) is None
    assert publisher.stats().dropped == {"bad_settings": 2}
    publisher.close()
    (line,) = caplog.messages
    assert "setting queue_max: it is wrong" in line


def test_flush_is_false_once_after_something_was_dropped(agent_settings, client, publisher_of):
    """It is True only when all that was published since the last flush is kept."""
    publisher = publisher_of(agent_settings)
    publisher.publish({"task_id": "t", "success": True})
    assert publisher.flush(40)
    publisher.publish({"task_id": "t", "success": "maybe"})
    publisher.publish({"task_id": "t", "success": True})
    assert not publisher.flush(40)
    publisher.publish({"task_id": "t", "success": True})
    assert publisher.flush(40)
    assert publisher.stats().dropped == {"invalid": 1}


def test_a_drop_is_told_even_after_a_flush_that_ran_out_of_time(home, hung_port, publisher_of):
    """The flush that waits to the end tells it."""
    url = f"redis://127.0.0.1:{hung_port}/0"
    publisher = publisher_of(load_settings(home=home, redis_url=url))
    publisher.publish({"task_id": "t", "success": "maybe"})
    publisher.publish({"task_id": "t", "success": True})
    assert not publisher.flush(0)
    assert not publisher.flush(40)
    assert publisher.flush(40)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of Python 3.12
def test_a_forked_child_makes_ids_of_its_own():
    """Whatever randomness the parent has ready, the child must not use it as well."""
    new_id()  # some are ready now
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write_end, "\n".join(new_id() for _ in range(50)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        childs = {each[14:] for each in pipe.read().split()}
    assert len(childs) == 50
    assert childs.isdisjoint({new_id()[14:] for _ in range(50)})


def test_ids_sort_by_time_and_never_repeat():
    """Each one is a valid UUIDv7."""
    ids = [new_id() for _ in range(20_000)]
    assert len(set(ids)) == len(ids)
    assert [each[:13] for each in ids] == sorted(each[:13] for each in ids)
    assert {(UUID(each).version, UUID(each).variant) for each in ids} == {
        (7, "specified in RFC 4122")
    }
