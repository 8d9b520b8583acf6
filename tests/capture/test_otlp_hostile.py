"""Spans and log records of any content are read without a failure, and within bounds."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from telling import TRACE, agent_span, call_span, log, runs_told, span

from trackrecord_capture.otlp import vocabulary
from trackrecord_capture.otlp.evaluations import evaluation_in
from trackrecord_capture.otlp.fact import MOST_CHARS
from trackrecord_capture.otlp.log_events import event_of
from trackrecord_capture.otlp.reading import fact_of
from trackrecord_capture.otlp.results import told_by
from trackrecord_capture.otlp.trace_store import encode_fact

_KINDS = [(name, value) for name, kinds in vocabulary.KINDS for value in kinds]
_NAMES = sorted(
    {
        name
        for names in vars(vocabulary).values()
        if isinstance(names, tuple)
        for name in names
        if isinstance(name, str)
    }
    | {
        "metadata",
        "success",
        "decision",
        "annotations",
        "trace.annotations",
        "annotations.0.annotation.name",
    }
)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["{}", "[]", "{'a': '\\ud800'}", '{"kwargs": 1, "args": 2}', "[[[[1]]]]", "'"]),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_EVENT_NAMES = [
    *("session.id", "conversation.id", "prompt.id", "tool_name", "tool_parameters", "success"),
    *("duration_ms", "output", "arguments", "prompt", "error"),
]
_EVENTS = ["claude_code.tool_result", "claude_code.user_prompt", "codex.tool_result"]
_ATTRIBUTES = st.dictionaries(st.sampled_from(_NAMES), _VALUES, max_size=6)


@settings(max_examples=300, deadline=None)
@given(kind=st.sampled_from(_KINDS), attributes=_ATTRIBUTES, above=st.sampled_from(["", "f" * 16]))
def test_spans_of_any_content_are_read_and_can_be_stored(kind, attributes, above):
    """Attributes may be of any type, whatever the vocabulary says."""
    told = span("x", attributes | dict([kind]), under=above)
    encode_fact(fact_of(told))
    runs_told(told, agent_span(), call_span(told))


@settings(max_examples=200, deadline=None)
@given(
    name=st.sampled_from(_EVENTS),
    attributes=st.dictionaries(st.sampled_from(_EVENT_NAMES), _VALUES, max_size=8),
)
def test_events_of_any_content_are_read_and_can_be_stored(name, attributes):
    """As spans are."""
    record = log(name, attributes, trace=TRACE)
    event = event_of(record)
    if event is not None:
        encode_fact(event[1])
        runs_told(record)
    evaluation_in(log("gen_ai.evaluation.result", attributes, body=attributes))


@settings(max_examples=300, deadline=None)
@given(value=_VALUES)
def test_results_of_any_shape_are_read(value):
    """What a result holds is told from text alone."""
    told_by(json.dumps(value))
    told_by(repr(value))


def test_what_is_kept_of_a_span_is_bounded():
    """However long its attributes are."""
    long = "x" * (10 * MOST_CHARS)
    told = span(
        long,
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": long,
            "gen_ai.tool.call.arguments": long,
            "gen_ai.tool.call.result": long,
            "error.type": long,
            "session.id": long,
            "full_command": long,
            "not.in.any.vocabulary": long,
        },
        message=long,
        status="error",
    )
    assert len(encode_fact(fact_of(told))) < 6 * MOST_CHARS
