"""Spans and log records of any content are read without a failure, and within bounds."""

import json

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.capture.telling import TRACE, agent_span, call_span, log, run_told, runs_told, span
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord_capture.otlp.facts import vocabulary
from trackrecord_capture.otlp.facts.evaluations import evaluation_in
from trackrecord_capture.otlp.facts.fact import MOST_CHARS
from trackrecord_capture.otlp.facts.log_events import event_of
from trackrecord_capture.otlp.facts.reading import fact_of
from trackrecord_capture.otlp.facts.results import told_by
from trackrecord_capture.otlp.traces.trace_store import encode_fact
from trackrecord_capture.outcome import outcome_of

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
        "metadata", "success", "decision", "annotations", "trace.annotations",
        "annotations.0.annotation.name",
    }
)  # fmt: skip
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20),
    st.sampled_from(["{}", "[]", "{'a': '\\ud800'}", '{"kwargs": 1, "args": 2}', "[[[[1]]]]", "'"]),
)  # fmt: skip
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


@settings(max_examples=150, deadline=None)
@given(kind=st.sampled_from(_KINDS), attributes=_ATTRIBUTES, above=st.sampled_from(["", "f" * 16]))
@example(kind=_KINDS[0], attributes={"ai.usage.completionTokens": 1.8e19}, above="")
def test_spans_of_any_content_are_read_and_can_be_stored(kind, attributes, above):
    """Attributes may be of any type, whatever the vocabulary says."""
    told = span("x", attributes | dict([kind]), under=above)
    encode_fact(fact_of(told))
    runs_told(told, agent_span(), call_span(told))


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=150, deadline=None)
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
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": long,
            "gen_ai.tool.call.arguments": long, "gen_ai.tool.call.result": long, "error.type": long,
            "session.id": long, "full_command": long, "not.in.any.vocabulary": long,
        },
        message=long,
        status="error",
    )  # fmt: skip
    assert len(encode_fact(fact_of(told))) < 6 * MOST_CHARS


@pytest.mark.parametrize("odd", [1.8e19, 2**63 - 1, 1e300, "9" * 400, -1, "many"])
def test_counts_and_exit_codes_that_cannot_be_are_unknown(odd):
    """They are stored nowhere, and the outcome of the run is valid all the same."""
    root = agent_span()
    chat = span(
        "chat",
        {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": odd, "cost_usd": odd},
        under=root,
    )
    failing = span(
        "execute_tool x",
        {"gen_ai.operation.name": "execute_tool", "exit_code": odd, "gen_ai.tool.name": "x"},
        under=root,
    )
    for each in (chat, failing):
        encode_fact(fact_of(each))
    run = run_told(root, chat, failing, failing)
    assert run.tokens_in is None
    assert decode_outcome(encode_body(outcome_of(run))).cost is None


def test_tokens_that_are_too_many_only_together_are_left_out_of_the_outcome():
    """Each of the requests is within the bound."""
    root = agent_span()
    chats = [
        span(
            f"chat {number}",
            {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 2**53},
            under=root,
        )
        for number in range(3)
    ]
    assert decode_outcome(encode_body(outcome_of(run_told(root, *chats)))).cost is None


def test_spans_of_a_clock_that_was_never_set_have_an_outcome_without_times():
    """A run of fifty years would be nonsense, and so would one of 1970."""
    told = [msgspec.structs.replace(each, start_ns=5, end_ns=90) for each in _agent_with_a_call()]
    outcome = outcome_of(run_told(*told))
    assert "timestamp" not in outcome
    assert "duration_ms" not in outcome
    assert [call["ok"] for call in outcome["tool_graph"]] == [True]


@pytest.mark.parametrize("start_ns", [5, 10**31, 0])
def test_one_span_of_a_broken_clock_does_not_stretch_the_run(start_ns):
    """The times of the other spans count."""
    root, call = _agent_with_a_call()
    odd = msgspec.structs.replace(call, span_id="ab" * 8, start_ns=start_ns)
    assert outcome_of(run_told(root, call, odd))["duration_ms"] == 30_000


def _agent_with_a_call():
    root = agent_span()
    return root, call_span(root)
