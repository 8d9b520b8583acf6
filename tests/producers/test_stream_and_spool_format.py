"""What travels keeps its kind and its bytes, in the stream and in the spool."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.wire.kinds import KINDS
from trackrecord_producers.delivery.stream_and_spool_format import (
    is_safe_line,
    read_spool_line,
    spool_line,
    stream_entry,
)
from trackrecord_producers.delivery.waiting import WaitingItem

BODIES = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text())).map(
    lambda fields: json.dumps(fields).encode()
)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("outcome", b'{"v":1,"redacted":1,"body":{"task_id":"t"}}'),
        ("memory", b'{"v":1,"redacted":1,"memory":{"task_id":"t"}}'),
    ],
)
def test_a_line_of_the_spool_is_the_stream_entry(kind, line):
    """The version, and the body under the same name as on the stream."""
    body = b'{"task_id":"t"}'
    assert spool_line(kind, body, is_safe=True) == line
    assert stream_entry(kind, body) == {"v": "1", "redacted": "1", list(json.loads(line))[2]: body}


@given(kind=st.sampled_from(list(KINDS)), body=BODIES, is_safe=st.booleans())
def test_what_is_written_is_read_again(kind, body, is_safe):
    """Whatever the body holds."""
    line = spool_line(kind, body, is_safe=is_safe)
    assert read_spool_line(line) == (kind, body)
    assert is_safe_line(line) == is_safe
    assert json.loads(line)


def test_a_bare_body_is_an_outcome():
    """A line that is no entry is taken for the body of one, and refused where it is read."""
    for line in (b'{"task_id":"t","success":true}', b'["memory",{"text":"x"}]'):
        assert read_spool_line(line) == ("outcome", line)


@given(body=BODIES)
def test_an_outcome_is_never_taken_for_a_memory(body):
    """Not even when its own fields look like an entry's."""
    hostile = b'{"v":1,"memory":' + body + b',"task_id":"t"}'
    assert read_spool_line(spool_line("outcome", hostile, is_safe=False)) == ("outcome", hostile)


def test_a_project_is_filled_in_once():
    """What names its project keeps it."""
    item = WaitingItem(b'{"text":"x"}', names_project=False, kind="memory")
    named = item.of_project("p")
    assert json.loads(named.body) == {"project": "p", "text": "x"}
    assert named.kind == "memory"
    assert named.of_project("q") is named
