"""The argument that changed: shapes without values, found where planted, silent otherwise."""

import json

import pytest
from msgspec.structs import replace

from benchmarks.worlds.arguments import endings, payments, permuted
from tests.learning.advice.histories import lessons, run, step
from trackrecord.learning.advice.hint_effect import TrialHint, aftermath_of
from trackrecord.learning.advice.lessons.counting.arguments import find_arguments
from trackrecord.learning.advice.lessons.counting.completions import find_completions
from trackrecord.learning.advice.lessons.history import history_of
from trackrecord.learning.advice.lessons.lesson import LessonKind
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.moments.calls import tool_key
from trackrecord.learning.advice.runs.arguments import (
    arguments_of,
    noted_arguments,
    only_change,
    shapes_of,
)
from trackrecord.learning.advice.runs.ids import passed_ids_of
from trackrecord.learning.advice.runs.runs import PassedIds
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.tried_calls import tried_digest, tried_run

ERROR = "certificate cannot be used"


def call(said, **arguments):
    return step(said, 1, noted_arguments(json.dumps(arguments).encode()))


def is_certificate(kind, _chance):
    return kind == "certificate"


def told(runs):
    return list(find_arguments(history_of(runs), LessonRules()))


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("certificate_7504069", "certificate_…"),
        ("ord-1042", "ord-…"),
        ("Mia Li", "a short text"),
        ("Mia", "a word"),
        ("mia", "a word"),
        ("mia.li@example.com", "a mail address"),
        ("mia_li_marie_3668", "a word with digits"),
        ("+4915112345678", "digits"),
        ("KA7I60", "capitals and digits"),
        ("2024-05-20", "a date"),
        ("4f9d7c0a-1111-2222", "a hexadecimal id"),
        ("https://example.com/mia", "a URL"),
        ("/home/mia/notes", "a path"),
        ("x y" * 1_000, "a long text"),
        ("", "an empty text"),
        (0, "zero"),
        (-4, "a negative whole number"),
        (1.5, "a decimal number"),
        (True, "true"),
        (None, "null"),
        ([], "a list of 0"),
        (["mia", "li"], "a list of several"),
    ],
)
def test_a_shape_is_a_kind_and_no_value(value, shape):
    """Only of an id like `certificate_…` the prefix is kept."""
    (found,) = shapes_of(json.dumps({"a": value}).encode()).values()
    assert found.shape == shape


@pytest.mark.parametrize("said", [b"", b"null", b"[1]", b"7", b'{"a', b'"{"', b"[" * 100_000])
def test_what_is_no_object_has_no_arguments(said):
    """Nothing is stored then."""
    assert noted_arguments(said) == b""


def test_what_is_stored_is_bounded():
    """Sixteen names of sixty-four characters, whatever they are given."""
    many = {f"n{n}": "v" * 50 for n in range(500)} | {"x" * 65: 1, "a\nb": 2}
    assert len(noted_arguments(json.dumps(many).encode())) < 1_000


def test_members_of_an_object_count():
    """One level deep; so the argument that changed is found there."""
    before, after = (
        noted_arguments(json.dumps({"pay": {"method": f"{kind}_1234", "sum": 5}}).encode())
        for kind in ("certificate", "card")
    )
    assert set(arguments_of(before)) == {"pay.method", "pay.sum"}
    assert only_change(before, after) == ("pay.method", "certificate_…", "card_…")
    assert only_change(before, before) is None


def test_an_argument_that_fails_is_told_with_what_worked():
    """With its counts, and no value of anybody."""
    found = [
        each for each in lessons(payments(1, is_certificate)) if each.kind is LessonKind.ARGUMENT
    ]
    (lesson,) = found
    line = lesson.lines["en"]
    assert line.startswith("`pay` failed in all ")
    assert " calls in which `method` looks like `certificate_…` (certificate cannot be used" in line
    assert "nothing else changed it then worked in all " in line
    assert lesson.argument.lesson == lesson.id
    assert not any(digit in lesson.argument.shape for digit in "0123456789")


@pytest.mark.parametrize("seed", range(8))
def test_a_planted_shape_is_found_and_a_shuffled_one_is_not(seed):
    """Failures of as many calls, dealt out anew among a tool's calls."""
    assert told(payments(seed, is_certificate))
    assert not told(payments(seed, lambda _, chance: chance.random() < 1 / 3))
    assert not told(permuted(payments(seed, is_certificate), seed))


def test_two_tasks_have_to_show_it():
    """However often it happened in one."""
    assert not told([replace(each, task_id="t1") for each in payments(3, is_certificate)])


def test_a_name_in_front_of_an_id_is_never_told():
    """Of a person there is one id, or the ids have as many prefixes as persons."""
    one = {"certificate": "mia_li_3668", "gift_card": "sara_doe_496", "credit_card": "yan_wu_812"}
    runs = []
    for number in range(60):
        steps = [call(f"pay!{ERROR}", user=one["certificate"]), call("pay", user=one["gift_card"])]
        runs.append(run(number, *steps, "close", task=number % 20))
    assert not told(runs)
    many = ["".join(chr(97 + (n // 26**k) % 26) for k in range(4)) for n in range(90)]
    runs = [
        run(
            number,
            call(f"pay!{ERROR}", user=f"{many[number]}_{1000 + number}"),
            call("pay", user="x@example.com"),
            "close",
            task=number % 20,
        )
        for number in range(90)
    ]
    assert not told(runs)
    # The same history with a kind of id instead is told.
    assert told(
        [
            run(
                number,
                call(f"pay!{ERROR}", user=f"guest_{1000 + number}"),
                call("pay", user="x@example.com"),
                "close",
                task=number % 20,
            )
            for number in range(90)
        ]
    )


@pytest.mark.parametrize("seed", range(5))
def test_what_successes_do_to_the_end_is_told(seed):
    """The ending, and that every id was passed on; nothing of the kind without an effect."""
    found = list(find_completions(history_of(endings(seed, 0.35)), LessonRules()))
    texts = [each.lines["en"] for each in found]
    assert any(text.startswith("runs that end with `close` succeeded more") for text in texts)
    said = "runs that passed every id in `orders` of `customer` on to `order` succeeded more"
    assert any(text.startswith(said) for text in texts)
    assert not list(find_completions(history_of(endings(seed, 0.0)), LessonRules()))


def test_ids_that_are_passed_on_are_counted():
    """By the field that held them; dates and names are no ids."""
    result = json.dumps(json.dumps({"name": "Mia", "orders": ["A1B2C", "D4E5F", "2024-01-01"]}))
    calls = [
        ("customer", b"{}", result.encode()),
        ("order", b'{"id":"A1B2C"}', b'"fine"'),
        ("order", b'{"id":"A1B2C"}', b'"fine"'),
    ]
    base = PassedIds("customer", "orders", "", 2, 0)
    assert passed_ids_of(calls) == (base, base._replace(to="order", passed=1))
    assert passed_ids_of([("a", b"{", b"{"), ("b", b"[" * 9_000, b"[" * 9_000)]) == ()


@pytest.mark.parametrize(
    ("then", "resumed", "repeated", "calls"),
    [
        ([("pay", True)], True, False, 1),
        ([("pay", False), ("pay", True)], True, True, 2),
        ([("look_up", True), ("pay", False)], False, True, 10),
        ([], False, False, 10),
    ],
)
def test_the_trial_sees_what_became_of_a_tool_without_a_command(then, resumed, repeated, calls):
    """A hint on an argument is judged by the later calls of its tool, as other hints are."""
    steps = [("look_up", True), ("pay", True), ("pay", False), *then]
    graph = [
        {"tool": tool, "ok": ok, "timestamp": 100.0 + at, "args": {"method": "x"}, "error": None}
        for at, (tool, ok) in enumerate(steps)
    ]
    said = {"task_id": "t", "success": True, "metadata": {"session": "s"}, "tool_graph": graph}
    digest = tried_digest(decode_outcome(json.dumps(said).encode()))
    own = tried_run(digest, outcome=1, ended_at=200.0)
    own_tool = [tool for tool, _ in then if tool == "pay"]
    assert [call.tool for call in own.calls] == ["pay", *own_tool]
    key = tool_key("pay")
    hint = TrialHint(
        session="s", entry="e", kind="argument", at=102.5, is_given=True, probability=0.5,
        key=key, tool="pay",
    )  # fmt: skip
    found = aftermath_of(hint, [own], {1: True})
    assert (found.resumed, found.repeated, found.calls, found.success) == (
        resumed, repeated, calls, True,
    )  # fmt: skip
