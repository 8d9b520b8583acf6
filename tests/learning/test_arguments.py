"""Arguments: names and types, never values."""

import msgspec
import pytest

from trackrecord.learning.competences.episodes.arguments import argument_types
from trackrecord.learning.competences.episodes.triggers import canonical_conditions


def test_every_json_type():
    """Names keep their order."""
    args = b'{"s": "x", "i": 1, "f": 1.5, "b": true, "n": null, "a": [], "o": {}}'
    assert dict(argument_types(msgspec.Raw(args))) == {
        "s": "string", "i": "number", "f": "number", "b": "boolean", "n": "null",
        "a": "array", "o": "object",
    }  # fmt: skip


def test_arguments_inside_a_text():
    """OpenAI's function calls carry their arguments so."""
    assert argument_types(msgspec.Raw(b'"{\\"path\\": \\"x\\"}"')) == (("path", "string"),)


@pytest.mark.parametrize(
    "args",
    [
        b"",
        b"null",
        b"[1]",
        b"7",
        b'"plain"',
        b'"[1]"',
        b'"{"',
        b'"{\\"a\\": \\"\\ud800\\"}"',
        b"[" * 9999,
    ],
)
def test_other_arguments_have_no_names(args):
    """Nothing is refused because of them."""
    assert argument_types(msgspec.Raw(args)) == ()


def test_names_are_bounded():
    """In number and in length; a NUL, which PostgreSQL cannot store, drops the name."""
    many = msgspec.json.encode({f"n{n}": n for n in range(100)})
    assert len(argument_types(msgspec.Raw(many))) == 32
    odd = msgspec.json.encode({"x" * 129: 1, "ok": 1})
    assert argument_types(msgspec.Raw(odd)) == (("ok", "number"),)
    assert argument_types(msgspec.Raw(b'"{\\"a\\\\u0000\\": 1, \\"b\\": 2}"')) == (("b", "number"),)


def test_the_same_conditions_are_one_text():
    """Whatever their spelling."""
    one = canonical_conditions(msgspec.Raw(b'{"b": 1,  "a": [true]}'))
    assert one == canonical_conditions(msgspec.Raw(b'{"a":[true],"b":1}')) == '{"a":[true],"b":1}'


@pytest.mark.parametrize("conditions", [b"", b"null", b'"' + b"x" * 2048 + b'"', b'"\\ud800"'])
def test_no_conditions(conditions):
    """None given, or none that can be kept."""
    assert canonical_conditions(msgspec.Raw(conditions)) is None
