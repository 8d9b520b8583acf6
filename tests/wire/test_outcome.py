"""The wire format: what becomes an outcome, and what is refused with which reason."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.growth import grows_by_at_most
from trackrecord.errors import InvalidOutcome
from trackrecord.wire.outcome import MAX_BODY_BYTES, Outcome, decode_outcome

NOW = 1_800_000_000.0


def body(**fields: Any) -> bytes:
    """A body with what every outcome needs, and these fields."""
    return json.dumps({"task_id": "t", "success": True, **fields}).encode()


def raw(fields: str) -> bytes:
    """A body with these fields as they are written here."""
    return b'{"task_id":"t","success":true,' + fields.encode() + b"}"


def refusal(given: bytes) -> str:
    """The reason for which a body is refused."""
    with pytest.raises(InvalidOutcome) as caught:
        decode_outcome(given)
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_the_least_that_is_needed():
    """All else has a default, and what was not observed is None."""
    outcome = decode_outcome(b'{"task_id":"t","success":false}')
    assert (outcome.task_id, outcome.success) == ("t", False)
    assert (outcome.project, outcome.outcome_source) == ("default", "explicit")
    assert outcome.outcome_id is None
    assert outcome.duration_ms is None
    assert outcome.ended_at(NOW) == NOW


def test_every_field():
    """The whole of the wire format in one body."""
    outcome = decode_outcome(
        body(
            outcome_id="o", project="p", timestamp="2024-01-01T00:00:00Z", duration_ms=1,
            error_count=2, retry_count=3, source="agent", outcome_source="tests",
            strategy="file-based", description="plan", patterns=["a", "b"],
            trigger={"signal": "s", "conditions": {"any": ["thing"]}}, instruction="do",
            tool_graph=[
                {
                    "id": 1, "tool": "go_test", "args": {"a": 1}, "result": "ok", "ok": True,
                    "error": None, "duration_ms": 1.5, "timestamp": 1, "depends_on": ["x", 2],
                },
                {},
            ],
            files_touched=["a.py"], criteria={"readable": "helpful", "own": "neutral"},
            failure_mode="timeout", failure_details="d", competence_id="c", memory_ids=["m"],
            process={"reviews": 1, "rejections": 0, "test_fail_loops": 2, "hard_limit_hits": 3},
            cost={"tokens_in": 1, "tokens_out": 2, "usd": 0.5}, metadata={"k": [1]},
            something_unknown={"is": "ignored"},
        )
    )  # fmt: skip
    assert outcome.timestamp == 1_704_067_200.0
    assert outcome.tool_graph is not None
    assert outcome.tool_graph[0].depends_on == ("x", 2)
    assert outcome.tool_graph[1].tool is None
    assert bytes(outcome.metadata) == b'{"k": [1]}'
    assert outcome.process == msgspec.convert(
        {"reviews": 1, "rejections": 0, "test_fail_loops": 2, "hard_limit_hits": 3},
        type(outcome.process),
    )


_PASSED, _FAILED = {"kind": "check passed", "call": 3}, {"kind": "check failed", "call": 2}
_CHECKED = ["Read", "shell:mypy", "shell:mypy", "shell:pytest", "deploy"]


@pytest.mark.parametrize(
    ("grounds", "calls", "tools"),
    [
        ([_PASSED], {3}, {"shell:pytest", "shell:mypy"}),
        ([_FAILED, _PASSED], {2, 3}, {"shell:pytest", "shell:mypy"}),
        ([{"kind": "tests", "says": "by hand", "call": 4}], {4},
         {"deploy", "shell:pytest", "shell:mypy"}),
        ([_PASSED, {"kind": "check without a result", "call": 1}], {3},
         {"shell:pytest", "shell:mypy"}),
        ([{"kind": "evaluated", "says": "0.9"}, _PASSED], set(), set()),
        ([{"kind": "check before the last edit", "call": 3}], set(), set()),
        ([{"kind": "rejected", "call": 0}], set(), set()),
        ([{"kind": "check passed"}, {"kind": "check passed", "call": 5}], set(), set()),
        ([], set(), set()),
        (None, set(), set()),
    ],
)  # fmt: skip
def test_what_a_verdict_rests_on(grounds, calls, tools):
    """The checks that decided, and with them the run's other checks; without a verdict nothing."""
    graph = [{"tool": tool} for tool in _CHECKED]
    said = {"grounds": grounds, "tool_graph": graph, "outcome_source": "tests"}
    outcome = decode_outcome(body(**said))
    assert (outcome.deciding_calls, outcome.decided_by) == (calls, tools)
    explaining = [call.tool for call in outcome.explaining_calls]
    assert explaining == [tool for tool in _CHECKED if tool not in tools]
    assert decode_outcome(body(**said | {"success": None})).decided_by == frozenset()
    # Whoever amends a verdict names calls that are not these.
    assert decode_outcome(body(**said, amended_by="token:ci")).decided_by == frozenset()


def test_success_may_be_unknown_but_not_missing():
    """Null says that nobody knows; saying nothing is a mistake."""
    assert decode_outcome(b'{"task_id":"t","success":null}').success is None
    assert "`success`" in refusal(b'{"task_id":"t"}')


def test_bead_id_is_another_name_for_task_id():
    """When both are given, task_id is the one."""
    assert decode_outcome(b'{"bead_id":"b","success":true}').task_id == "b"
    assert decode_outcome(b'{"bead_id":"b","task_id":"t","success":true}').task_id == "t"


@pytest.mark.parametrize(
    ("timestamp", "seconds"),
    [
        (0, 0.0), (1_700_000_000, 1_700_000_000.0), (1_700_000_000.25, 1_700_000_000.25),
        (1_700_000_000_250, 1_700_000_000.25), (1_700_000_000_250.5, 1_700_000_000.2505),
        (1_700_000_000_250_000, 1_700_000_000.25), (1_700_000_000_000_000_000, 1_700_000_000.0),
        ("2023-11-14T22:13:20Z", 1_700_000_000.0), ("2023-11-15T00:13:20+02:00", 1_700_000_000.0),
        ("2023-11-14 22:13:20.5+00:00", 1_700_000_000.5),
    ],
)  # fmt: skip
def test_timestamps(timestamp, seconds):
    """ISO 8601 with an offset, or epoch seconds; what is too large for those is a smaller unit."""
    assert decode_outcome(body(timestamp=timestamp)).ended_at(NOW) == seconds


@pytest.mark.parametrize("timestamp", [NOW + 1, 1e300, "9999-12-31T23:59:59-23:59"])
def test_the_future_is_clamped_to_the_receipt(timestamp):
    """However far it is."""
    assert decode_outcome(body(timestamp=timestamp)).ended_at(NOW) == NOW


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ('"task_id":""', "$.task_id"), ('"task_id":null,"bead_id":null', "task_id is missing"),
        (f'"task_id":"{"x" * 257}"', "$.task_id"), ('"success":1', "$.success"),
        (f'"outcome_id":"{"x" * 129}"', "$.outcome_id"), ('"project":""', "$.project"),
        (f'"project":"{"x" * 129}"', "$.project"), ('"duration_ms":-1', "$.duration_ms"),
        ('"duration_ms":1.5', "$.duration_ms"), ('"duration_ms":9007199254740993', "$.duration_ms"),
        (f'"duration_ms":{"9" * 5000}', "$.duration_ms"), ('"error_count":-1', "$.error_count"),
        ('"outcome_source":"guess"', "$.outcome_source"),
        ('"criteria":{"readable":"good"}', "$.criteria"), ('"patterns":[1]', "$.patterns[0]"),
        (f'"patterns":["{"x" * 1025}"]', "$.patterns[0]"), ('"trigger":{}', "$.trigger"),
        ('"trigger":{"signal":""}', "$.trigger.signal"),
        ('"tool_graph":[{"tool":1}]', "$.tool_graph[0].tool"),
        ('"tool_graph":[{"depends_on":[[]]}]', "$.tool_graph[0].depends_on"),
        ('"process":{"reviews":-1}', "$.process.reviews"), ('"cost":{"usd":-0.1}', "$.cost.usd"),
        ('"cost":{"usd":1e999}', "$.cost.usd"), ('"metadata":[]', "metadata must be an object"),
        ('"timestamp":"2024-01-01T00:00:00"', "no offset"), ('"timestamp":"yesterday"', "ISO 8601"),
        ('"timestamp":-1', "before 1970"), ('"timestamp":"1969-12-31T23:59:59Z"', "before 1970"),
        ('"timestamp":true', "$.timestamp"), ('"timestamp":1e400', "$.timestamp"),
        ('"timestamp":NaN', "malformed"), ('"metadata":{"a":NaN}', "malformed"),
    ],
)  # fmt: skip
def test_wrong_fields_are_refused_by_name(fields, reason):
    """Of the wrong type, out of range, or not a number at all."""
    assert reason in refusal(raw(fields))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b"", "truncated"), (b"nonsense", "malformed"), (b"[]", "Expected `object`"),
        (b"null", "Expected `object`"), (b"{}", "success"),
        (b'{"success":true}', "task_id is missing"), (raw('"a":1,'), "malformed"),
        (raw('"a":1') + b"{}", "malformed"), (b"\xff\xfe", "not UTF-8"),
        (b'{"task_id":"\xed\xa0\x80","success":true}', "not UTF-8"),
        (b"\xef\xbb\xbf{}", "malformed"),
    ],
)  # fmt: skip
def test_what_is_no_outcome_at_all(given, reason):
    """Not JSON, not an object, not UTF-8, not enough."""
    assert reason in refusal(given)


@pytest.mark.parametrize(
    "nested", ["[" * 100_000 + "]" * 100_000, '{"a":' * 90_000 + "1" + "}" * 90_000]
)
@pytest.mark.parametrize("field", ["metadata", "unknown"])
def test_deep_nests(field, nested):
    """Refused whether the field is known or not, instead of ending the process."""
    assert refusal(raw(f'"{field}":{nested}')) == "body is nested too deeply"


@pytest.mark.parametrize("text", [r"\u0000", r"a\u0000b", r"\\\u0000", r"\\\\\u0000"])
def test_nul_is_refused(text):
    """PostgreSQL has no place for it."""
    assert refusal(raw(f'"description":"{text}"')) == "body contains a NUL character"
    assert refusal(raw(f'"unknown":"{text}"')) == "body contains a NUL character"


@pytest.mark.parametrize("text", [r"\\u0000", r"\\\\u0000", "u0000"])
def test_what_only_looks_like_nul(text):
    """A backslash that is itself escaped."""
    assert decode_outcome(raw(f'"description":"{text}"')).description is not None


@pytest.mark.parametrize(
    "text",
    [
        r"\ud800", r"\uD800x", r"\udc00", r"\ud800\ud800", r"\udc00\ud800", r"\ud800\u0041",
        r"\ud83d\ude00\ud83d", r"\\\ud800", r"x\uDFFF",
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ['"description":"%s"', '"metadata":{"k":"%s"}', '"%s":1'])
def test_lone_surrogates_are_called_so(where, text):
    """Wherever they stand: no store can hold them."""
    assert refusal(raw(where % text)) == "body contains a lone surrogate"


def test_the_size_is_bounded():
    """By bytes, inclusive."""
    least = len(body(description=""))
    fits = body(description="x" * (MAX_BODY_BYTES - least))
    assert len(fits) == MAX_BODY_BYTES
    assert decode_outcome(fits).success
    assert refusal(fits + b" ") == "body has 1048577 bytes, 1048576 are allowed"
    with pytest.raises(InvalidOutcome, match="100 are allowed"):
        decode_outcome(body(description="x" * 100), max_bytes=100)


SECRET = "SECRET"  # noqa: S105 - stands for whatever a body may hold


@pytest.mark.parametrize(
    "given",
    [
        raw(f'"outcome_source":"{SECRET}"'), raw(f'"outcome_source":"x\' - at `$.{SECRET}`"'),
        raw(f'"criteria":{{"{SECRET}":"{SECRET}"}}'), raw(f'"criteria":{{"{SECRET}":1}}'),
        raw(f'"timestamp":"{SECRET}"'), raw(f'"success":"{SECRET}"'), raw(f'"metadata":"{SECRET}"'),
        raw(f'"{SECRET}":{SECRET}'), raw('"a":1') + SECRET.encode(), raw(rf'"{SECRET}":"\ud800"'),
        raw(rf'"{SECRET}":"\u0000"'), raw(f'"tool_graph":[{{"{SECRET}":1,"tool":["{SECRET}"]}}]'),
    ],
)  # fmt: skip
def test_a_reason_never_repeats_the_body(given):
    """Reasons are logged; contents are nobody's business."""
    assert SECRET not in refusal(given)


@given(st.binary(max_size=300))
@example(b'{"task_id":"t","success":true,"timestamp":"0001-01-01T00:00:00+23:59"}')
def test_any_bytes(given):
    """Nothing but InvalidOutcome is ever raised."""
    _decode_or_refuse(given)


FIELDS = [*Outcome.__struct_fields__, "unknown"]
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["helpful", "tests", "2024-01-01T00:00:00Z", "24:00", "\ud800", "\x00"])
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*FIELDS, "tool", "id", "signal"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(FIELDS), values, max_size=8), st.booleans())
def test_any_json(fields, needed):
    """Nothing but InvalidOutcome is ever raised, and what is taken can be trusted."""
    if needed:
        fields = {"task_id": "t", "success": True, **fields}
    outcome = _decode_or_refuse(json.dumps(fields).encode())
    if outcome is not None:
        assert outcome.task_id
        assert 0 <= outcome.ended_at(NOW) <= NOW
        assert outcome.outcome_source in {"explicit", "evaluator", "tests", "heuristic"}


@given(st.binary(max_size=60), st.integers(0, 200), st.integers(0, 20))
def test_a_good_body_gone_bad(noise, place, gap):
    """Bytes lost or overwritten on the way."""
    good = body(description="plan 😀", tool_graph=[{"tool": "x", "args": {"a": [1]}}], metadata={})
    _decode_or_refuse(good[:place] + noise + good[place + gap :])


@pytest.mark.linear_time
@pytest.mark.parametrize(
    "piece", ["\\", "\\\\", r"\ud83d\ude00", r"\u0041", r"\u0000", "[", '{"a":']
)
def test_time_to_refuse_grows_with_the_body_and_no_faster(piece):
    """Up to a megabyte of what the checks look for, and the body is bad after all."""
    short, long = (
        ('{"a":"' + piece * ((size - 10) // len(piece))).encode()
        for size in (MAX_BODY_BYTES // 8, MAX_BODY_BYTES)
    )
    assert grows_by_at_most(8, refusal, short=short, long=long)


def _decode_or_refuse(given: bytes) -> Outcome | None:
    try:
        return decode_outcome(given)
    except InvalidOutcome:
        return None
