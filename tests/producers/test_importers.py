"""Importers: the same outcomes whenever a recording is read, and no recording that breaks them."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.errors import ImportFormatError
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord_producers.importers import jsonl
from trackrecord_producers.importers.jsonl import BadLine, Imported, read_jsonl, read_outcomes


def test_a_file_that_is_not_there(tmp_path):
    """An error of one line."""
    with pytest.raises(ImportFormatError, match=r"missing\.jsonl cannot be read"):
        list(read_jsonl(tmp_path / "missing.jsonl"))


def _lines(content, **options):
    return list(read_outcomes(io.BytesIO(content), **options))


WHOLE = b'{"task_id":"t","success":true}'


def test_a_bad_line_is_named_and_the_good_ones_go_on():
    """By its number in the file."""
    first, bad, second, third = _lines(
        WHOLE + b"\n{broken\n\n" + WHOLE[:-1] + b',"outcome_id":"mine","x":[1]}\r\n' + WHOLE
    )
    assert isinstance(first, Imported)
    assert isinstance(bad, BadLine)
    assert (bad.place, second.place, third.place) == ("line 2", "line 4", "line 5")
    assert second.fields == {"task_id": "t", "success": True, "outcome_id": "mine", "x": [1]}


def test_a_reason_does_not_repeat_the_line():
    """The content may be secret."""
    (bad,) = _lines(WHOLE[:-1] + b',"outcome_source":"secret"}')
    assert "outcome_source" in bad.reason
    assert "secret" not in bad.reason


def test_equal_lines_are_outcomes_of_their_own_and_stay_the_same_ones():
    """Reading the file again gives the same ids."""

    def ids(content):
        return [each.fields["outcome_id"] for each in _lines(content)]

    twice = ids(WHOLE + b"\n" + WHOLE + b"\n")
    assert len(set(twice)) == 2
    other = WHOLE.replace(b"true", b"false")
    mixed = ids(other + b"\n" + WHOLE + b"\n" + WHOLE + b"\n")
    assert mixed[1:] == twice


def test_a_line_that_is_too_long_is_refused_without_being_held():
    """Memory stays bounded."""
    results = _lines(b"x" * 10_000 + b"\n" + WHOLE, max_bytes=1000)
    assert [type(each) for each in results] == [BadLine, Imported]
    assert [each.place for each in results] == ["line 1", "line 2"]
    assert "bytes" in results[0].reason


def test_a_line_of_exactly_the_allowed_length_is_read():
    """The limit itself is allowed."""
    line = WHOLE[:-1] + b" " * (1000 - len(WHOLE)) + b"}"
    assert len(line) == 1000
    (each,) = _lines(line + b"\n", max_bytes=1000)
    assert isinstance(each, Imported)


def test_a_byte_order_mark_is_passed_over():
    """Some editors write one."""
    (each,) = _lines(b"\xef\xbb\xbf" + WHOLE)
    assert isinstance(each, Imported)


@given(st.binary(max_size=300) | st.lists(st.sampled_from([WHOLE, b"\n", b"{"])).map(b"".join))
def test_any_bytes_are_outcomes_or_rejected_lines(content):
    """Each line is one or the other."""
    for each in _lines(content, max_bytes=100):
        if isinstance(each, Imported):
            decode_outcome(encode_body(each.fields))


def test_a_document_has_the_ids_of_its_lines():
    """A list, lines, and one outcome over several lines are the same outcomes."""

    def ids(content):
        return [each.fields["outcome_id"] for each in _lines(content)]

    other = WHOLE.replace(b"true", b"false")
    lines = ids(WHOLE + b"\n" + WHOLE + b"\n" + other)
    assert ids(b" [" + WHOLE + b",\n" + WHOLE + b", " + other + b"]\n") == lines
    assert ids(json.dumps(json.loads(WHOLE), indent=3).encode()) == lines[:1]
    assert ids(b"[]") == []


def test_a_document_that_is_too_long_is_refused_line_by_line(monkeypatch):
    """So that no more than the bound is held."""
    content = b"[" + b",\n".join([WHOLE] * 100) + b"]"
    monkeypatch.setattr(jsonl, "MAX_DOCUMENT_BYTES", 500)
    results = _lines(content)
    assert len(results) == 100
    assert isinstance(results[0], BadLine)


def test_success_that_is_null_stays():
    """It says that nobody knows, which is not the same as saying nothing."""
    (each,) = _lines(b'{"task_id":"t","success":null,"strategy":null}')
    assert each.fields.keys() == {"task_id", "success", "outcome_id"}
    assert each.fields["success"] is None
    (refused,) = _lines(b'{"task_id":"t"}')
    assert isinstance(refused, BadLine)
