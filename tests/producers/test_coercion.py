"""What agents give beside the wire's own types: read where there is one reading, or refused.

What loses something is said, and so are fields that the wire format does not have.
"""

import logging
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trackrecord_producers.bodies.remarks as remarks_module
from trackrecord.errors import InvalidOutcome
from trackrecord.wire.outcome import Outcome, decode_outcome
from trackrecord_producers.bodies.body import build_body, build_wire_body
from trackrecord_producers.bodies.remarks import Remarks
from trackrecord_producers.delivery.notices import Notices


def read(**fields):
    """The outcome as the worker reads it, and what was remarked on."""
    remarks = []
    given = {"task_id": "t", "success": True, **fields}
    _, body = build_body(given, say=lambda _, message: remarks.append(message))
    return decode_outcome(body), remarks


class OfAnotherLibrary:
    """A number as NumPy and others have them."""

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


class Float(float):
    """As numpy.float64 is one."""


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("duration_ms", 12.0, 12),
        ("duration_ms", Float(12.0), 12),
        ("duration_ms", timedelta(seconds=1.5), 1500),
        ("duration_ms", "12", 12),
        ("duration_ms", OfAnotherLibrary(12), 12),
        ("duration_ms", OfAnotherLibrary(12.0), 12),
        ("duration_ms", Decimal(12), 12),
        ("error_count", 2.0, 2),
        ("retry_count", " 2 ", 2),
        ("success", 1, True),
        ("success", 0, False),
        ("success", OfAnotherLibrary(False), False),
        ("task_id", 42, "42"),
        ("task_id", UUID(int=1), str(UUID(int=1))),
        ("project", 7, "7"),
        ("source", 7, "7"),
        ("competence_id", 7, "7"),
        ("patterns", "tests first", ("tests first",)),
        ("patterns", (name for name in ("a", "b")), ("a", "b")),
        ("patterns", {"a": 1}.keys(), ("a",)),
        ("files_touched", "a.py", ("a.py",)),
        ("memory_ids", "m1", ("m1",)),
        ("memory_ids", [1, "m2"], ("1", "m2")),
        ("outcome_source", None, "explicit"),
        ("timestamp", 1_763_000_000_250, 1_763_000_000.25),
        ("timestamp", Decimal("1763000000.25"), 1_763_000_000.25),
        ("timestamp", OfAnotherLibrary(1_763_000_000.25), 1_763_000_000.25),
        ("timestamp", datetime(2026, 1, 2, tzinfo=UTC), 1_767_312_000.0),
    ],
)
def test_what_has_one_reading_is_read(name, value, expected):
    """Silently, where nothing is lost."""
    outcome, remarks = read(**{name: value})
    assert getattr(outcome, name) == expected
    assert remarks == []


def test_objects_inside_are_read_alike():
    """A trigger's signal, counts of process and cost, flags and names of tool calls."""
    outcome, remarks = read(
        trigger="build is red",
        process={"reviews": 2.0},
        cost={"tokens_in": "12", "usd": Decimal("0.5")},
        tool_graph=[{"tool": "grep", "ok": 1, "duration_ms": Decimal("1.5")}, {"tool": 7}],
    )
    assert outcome.trigger.signal == "build is red"
    assert (outcome.process.reviews, outcome.cost.tokens_in, outcome.cost.usd) == (2, 12, 0.5)
    assert [(call.tool, call.ok) for call in outcome.tool_graph] == [("grep", True), ("7", None)]
    assert remarks == []


@pytest.mark.parametrize(
    ("fields", "name", "expected", "said"),
    [
        ({"duration_ms": 12.6}, "duration_ms", 13, "duration_ms is a whole number"),
        ({"error_count": 1.4}, "error_count", 1, "error_count is a whole number"),
        ({"duration_ms": timedelta(microseconds=1600)}, "duration_ms", 2, "rounded"),
    ],
)
def test_what_loses_something_is_said(fields, name, expected, said):
    """A fraction is rounded."""
    outcome, (remark,) = read(**fields)
    assert getattr(outcome, name) == expected
    assert said in remark


def test_a_datetime_without_a_time_zone_is_local_time():
    """As it is for Python itself; it is said, because the agent may have meant UTC."""
    moment = datetime(2026, 1, 2, 3, 4)  # noqa: DTZ001 - naive on purpose
    outcome, (remark,) = read(timestamp=moment)
    assert outcome.timestamp == moment.timestamp()
    assert "local time" in remark


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"timestamp": "2026-01-02T03:04:05"}, "no offset"),
        ({"timestamp": True}, "$.timestamp"),
        ({"duration_ms": "fast"}, "$.duration_ms"),
        ({"duration_ms": "nan"}, "$.duration_ms"),
        ({"duration_ms": Decimal("Infinity")}, "$.duration_ms"),
        ({"duration_ms": -1.0}, "$.duration_ms"),
        ({"duration_ms": True}, "$.duration_ms"),
        ({"error_count": timedelta(seconds=1)}, "$.error_count"),
        ({"success": "yes"}, "$.success"),
        ({"success": 2}, "$.success"),
        ({"task_id": 4.5}, "$.task_id"),
        ({"task_id": True}, "$.task_id"),
        *(({name: math.nan}, name) for name in ("outcome_id", "task_id", "bead_id", "project")),
        ({"trigger": {"signal": ["x"]}}, "$.trigger.signal"),
        ({"patterns": 7}, "$.patterns"),
        ({"patterns": [1.5]}, "$.patterns[0]"),
        ({"tool_graph": 7}, "$.tool_graph"),
        ({"tool_graph": [7]}, "$.tool_graph[0]"),
        ({"criteria": {"readable": True}}, "$.criteria"),
    ],
)
def test_what_has_no_reading_or_several_is_refused(fields, reason):
    """With the field that is wrong."""
    with pytest.raises(InvalidOutcome) as caught:
        read(**fields)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("call", "tool", "args"),
    [
        ({"name": "grep", "input": {"a": 1}, "type": "tool_use", "id": "x"}, "grep", b'{"a":1}'),
        (
            {"id": "x", "type": "function", "function": {"name": "grep", "arguments": "{}"}},
            "grep",
            b'"{}"',
        ),
        ({"tool_name": "grep", "tool_input": {}, "success": True}, "grep", b"{}"),
        ({"function": "grep", "parameters": {}}, "grep", b"{}"),
        ({"tool": "grep", "name": "another"}, "grep", b""),
        ("grep", "grep", b""),
    ],
)
def test_calls_as_frameworks_have_them(call, tool, args):
    """OpenAI's, Anthropic's, LangChain's, and mere names."""
    given = dict(call) if isinstance(call, dict) else call
    outcome, _ = read(tool_graph=[call])
    (found,) = outcome.tool_graph
    assert (found.tool, bytes(found.args)) == (tool, args)
    assert call == given, "the agent's own object is not changed"


def test_what_a_call_was_taken_as_is_said():
    """And what of it is not known at all; a call by itself is a list of one."""
    outcome, remarks = read(tool_graph={"name": "grep", "durations_ms": 3, "own": 1})
    assert [call.tool for call in outcome.tool_graph] == ["grep"]
    assert len(remarks) == 3
    assert "'name': it was taken as 'tool'" in remarks[0]
    assert "did you mean 'duration_ms'?" in " ".join(remarks)
    assert "'own': nothing is learnt from it" in " ".join(remarks)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"strategey": "x"}, "an outcome has no field 'strategey': did you mean 'strategy'?"),
        ({"duratoin_ms": 1}, "did you mean 'duration_ms'?"),
        ({"Error_Count": 1}, "did you mean 'error_count'?"),
        (
            {"zzzzzz": 1},
            "'zzzzzz': nothing is learnt from it; put data of your own into",
        ),
        ({"cost": {"token_in": 1}}, "cost has no field 'token_in': did you mean 'tokens_in'?"),
        ({"process": {"review": 1}}, "did you mean 'reviews'?"),
        ({"trigger": {"signal": "s", "condition": 1}}, "did you mean 'conditions'?"),
        ({"\ud800": 1}, "'\\ud800': nothing is learnt from it"),
        ({"strategy": "!!!"}, "a strategy without a letter or a digit: nothing is learnt of it"),
    ],
)
def test_an_unknown_field_is_said_and_the_outcome_kept(fields, said):
    """With the field that was probably meant."""
    outcome, (remark,) = read(**fields)
    assert outcome.success
    assert said in remark


def test_each_kind_is_logged_once(caplog, monkeypatch):
    """However often it is met; other names are other kinds, up to a number of them."""
    monkeypatch.setattr(remarks_module, "_of_this_process", Remarks())
    monkeypatch.setattr(remarks_module, "_MOST_KINDS", 3)
    for number in range(10):
        build_body({"task_id": "t", "success": True, "strategey": "x"})
        build_body({"task_id": "t", "success": True, f"made_up_{number}": "x"})
    assert len(caplog.messages) == 4
    assert "did you mean 'strategy'?" in caplog.messages[0]
    assert "further remarks" in caplog.messages[3]


def test_the_wire_itself_coerces_nothing_but_units_of_time():
    """What other languages send, and the command line reads, is as the wire format says."""
    for fields in ({"duration_ms": 12.0}, {"task_id": 42}, {"trigger": "x"}, {"patterns": "x"}):
        with pytest.raises(InvalidOutcome):
            build_wire_body({"task_id": "t", "success": True, **fields})


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.decimals() | st.timedeltas() | st.datetimes() | st.builds(OfAnotherLibrary, st.floats()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(Outcome.__struct_fields__), _values, max_size=6))
def test_whatever_is_given_is_read_or_refused(fields):
    """Nothing else is ever raised, and a valid outcome is what it was before there was coercion."""
    plain = {"task_id": "t", "success": True, **fields}
    try:
        _, expected = build_wire_body(dict(plain))
    except InvalidOutcome:
        expected = None
    try:
        _, body = build_body(dict(plain), say=lambda kind, message: None)
    except InvalidOutcome:
        assert expected is None
        return
    if expected is not None and not isinstance(fields.get("tool_graph"), (str, dict)):
        before, after = (msgspec.json.decode(each) for each in (expected, body))
        for made_up in ("outcome_id", "timestamp"):
            if fields.get(made_up) is None:
                before.pop(made_up), after.pop(made_up)
        assert before == after or "tool_graph" in fields


def test_logging_that_raises_does_not_reach_the_agent(monkeypatch):
    """The agent's own filters are called there."""

    def broken(record):
        raise RuntimeError

    monkeypatch.setattr(logging.getLogger("trackrecord"), "filters", [broken])
    monkeypatch.setattr(remarks_module, "_of_this_process", Remarks())
    build_body({"task_id": "t", "success": True, "strategey": "x"})
    Notices().say("kind", "message")
