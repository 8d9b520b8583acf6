"""wire.md names every field of an outcome with its type and its bounds, and no other."""

import re
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from tests.docs.documentation import blocks, tables, text_of
from trackrecord.errors import InvalidOutcome
from trackrecord.inflight.errors import MAX_MESSAGE_CHARS, MAX_STACK_CHARS, TaskInFlight
from trackrecord.inflight.retry_record import retry_record
from trackrecord.inflight.rules import MAX_IN_CONTEXT, ErrorRules
from trackrecord.learning.memories.rules import MAX_TEXT_CHARS
from trackrecord.redis.keys import Keys
from trackrecord.settings.settings import Settings
from trackrecord.wire.error import ErrorBody, decode_error
from trackrecord.wire.exposure import MAX_ENTRIES, ExposureBody, decode_exposure
from trackrecord.wire.feedback import FeedbackBody, decode_feedback
from trackrecord.wire.hint import HintBody, decode_hint
from trackrecord.wire.memory import MemoryBody, decode_memory
from trackrecord.wire.outcome import (
    MAX_BODY_BYTES,
    WIRE_VERSION,
    CallCheck,
    Cost,
    Ground,
    Outcome,
    Process,
    ToolCall,
    Trigger,
    decode_outcome,
)
from trackrecord.wire.recall import MAX_MEMORIES, RecallBody, decode_recall

# In the order of their tables on the page.
KINDS = [
    Outcome, Trigger, ToolCall, CallCheck, Process, Cost, Ground, MemoryBody, ExposureBody,
    HintBody, RecallBody, FeedbackBody, ErrorBody,
]  # fmt: skip
PAGE = "docs/wire.md"


def _documented() -> list[dict[str, list[str]]]:
    found = [table for table in tables(text_of(PAGE)) if table[0][0] == "field"]
    return [{row[0].strip("`"): row[1:] for row in table[1:]} for table in found]


DOCUMENTED = dict(zip(KINDS, _documented(), strict=True))
FIELDS = [
    pytest.param(kind, field, id=f"{kind.__name__}.{field.name}")
    for kind in KINDS
    for field in inspect.type_info(kind).fields
]


def _without_null(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return tuple(each for each in members if not isinstance(each, inspect.NoneType))


def _characters(kind: inspect.StrType) -> str:
    if kind.max_length is None:
        return ""
    if kind.min_length:
        return f"{kind.min_length} to {kind.max_length} characters"
    return f"at most {kind.max_length} characters"


def _from_zero(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.ge is None:
        return ""
    return "0 or more" if kind.le is None else {2**53: "0 to 2^53", 1: "0 to 1"}[kind.le]


def _words(kind: inspect.Type) -> tuple[str, str]:
    """A type and its bounds, as the page puts them."""
    match kind:
        case inspect.BoolType():
            return "boolean", ""
        case inspect.StrType():
            return "string", _characters(kind)
        case inspect.IntType():
            return "integer", _from_zero(kind)
        case inspect.FloatType():
            return "number", _from_zero(kind)
        case inspect.LiteralType():
            return "string", ", ".join(f"`{value}`" for value in kind.values)
        case inspect.StructType():
            return "object", ""
        case inspect.DictType():
            one, *others = reversed(kind.value_type.values)
            names = ", ".join(f"`{value}`" for value in reversed(others))
            return "object of strings", f"each {names} or `{one}`"
        case inspect.VarTupleType():
            items = _without_null(kind.item_type)
            bounds = _words(items[0])[1]
            names = " or ".join(f"{_words(item)[0]}s" for item in items)
            return f"list of {names}", f"each {bounds}" if bounds else ""
        case inspect.RawType():
            return "anything", ""
    raise AssertionError(kind)


def _spelled(kind: inspect.Type) -> tuple[str, str]:
    described = [_words(each) for each in _without_null(kind)]
    return " or ".join(name for name, _ in described), described[0][1]


@pytest.mark.parametrize("kind", KINDS)
def test_fields_are_those_of_the_code(kind):
    """Each table has the fields of its type, and no other."""
    assert set(DOCUMENTED[kind]) == set(kind.__struct_fields__)


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_type_and_bounds(kind, field):
    """A field's type and bounds stand beside it as the code checks them."""
    if field.name == "metadata":  # undecoded, but for its first character
        expected: Any = ("object", "")
    else:
        expected = _spelled(field.type)
    if kind is Outcome and field.name == "success":  # the one field whose null says something
        expected = (f"{expected[0]} or null", expected[1])
    assert tuple(DOCUMENTED[kind][field.name][:2]) == expected
    assert DOCUMENTED[kind][field.name][2]


def test_null_stands_for_not_given():
    """But in those fields that the page names."""
    (sentence,) = re.findall(
        r"`null` stands\nfor \"not given\", except in ([^.]+)\.", text_of(PAGE)
    )
    exceptions = set(re.findall(r"`(\w+)`", sentence))
    refused = set()
    for name in Outcome.__struct_fields__:
        body = {"task_id": "t", "bead_id": "b", "success": True, name: None}
        try:
            decode_outcome(msgspec.json.encode(body))
        except InvalidOutcome:
            refused.add(name)
    assert refused == exceptions


def test_example_bodies_are_outcomes():
    """Every body in an example is a valid outcome."""
    found = [
        body
        for block in blocks("sh")
        for body in re.findall(r"body '(\{.*?\})'", block.text, re.DOTALL)
    ]
    assert found
    for body in found:
        decode_outcome(body.encode())


@pytest.mark.parametrize(
    ("kind", "decode", "bound"),
    [
        ("memory", decode_memory, f"at most {MAX_TEXT_CHARS} characters"),
        ("exposure", decode_exposure, f"At most {MAX_ENTRIES}"),
        ("hint", decode_hint, ""),
        ("recall", decode_recall, f"At most {MAX_MEMORIES}"),
        ("feedback", decode_feedback, ""),
    ],
)
def test_examples_of_other_kinds_are_valid(kind, decode, bound):
    """Every one that is shown, and the bound is that of the code."""
    found = [
        given
        for block in blocks("sh")
        for given in re.findall(rf" {kind} '(\{{.*?\}})'", block.text, re.DOTALL)
    ]
    assert found
    assert len(found) == {"hint": 1, "feedback": 2}.get(kind, len(found))
    for given in found:
        decode(given.encode())
    assert bound in text_of(PAGE)
    assert kind != "recall" or text_of(PAGE).count(bound) == 2


def test_example_errors_are_errors():
    """Every error in an example is a valid one, and what a retry reads is under the key there."""
    page = text_of(PAGE)
    found = [
        error
        for block in blocks("sh")
        for error in re.findall(r"  error '(\{.*?\})'", block.text, re.DOTALL)
    ]
    assert {decode_error(error.encode()).report for error in found} == {
        "error", "resolved", "ended",
    }  # fmt: skip
    keys = Keys(Settings.model_fields["redis_prefix"].default)
    digest = sha256(b"build-4711").hexdigest()
    key = keys.retry("build-4711", "default")
    assert f'HGET "{key.replace(digest, "$task")}" en' in page
    (table,) = [table for table in tables(page) if table[0][0] == "part of the hash"]
    record = retry_record(TaskInFlight(), ErrorRules())
    assert [row[0].strip("`") for row in table[1:]] == list(record)
    document = ", ".join(f'"{name}"' for name in msgspec.json.decode(record["json"]))
    assert document in page
    for number in (MAX_MESSAGE_CHARS, MAX_STACK_CHARS, MAX_IN_CONTEXT):
        assert f" {number} " in page


def test_keys_and_version():
    """The streams and the version are those of the code."""
    keys = Keys(Settings.model_fields["redis_prefix"].default)
    text = text_of(PAGE)
    assert f"XADD {keys.outcomes} * v {WIRE_VERSION} body" in text
    assert f"`{keys.dead}`" in text
    assert "over 1 MiB" in text
    assert MAX_BODY_BYTES == 1024 * 1024
