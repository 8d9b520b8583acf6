"""Logs of Inspect: samples with their calls, scores and errors."""

import json
import sys
import zipfile

import pytest

from trackrecord.errors import ImportFormatError
from trackrecord.wire.outcome import encode_body
from trackrecord_producers.importers.records import Imported, Rejected
from trackrecord_producers.importers.register import read_recorded

EVALUATION = {"eval_id": "e1", "run_id": "r1", "task": "numbers", "model": "openai/gpt-6"}


def message(role, content="", **more):
    return {"role": role, "content": content, **more}


def sample(**fields):
    call = {"id": "c1", "function": "lookup", "arguments": {"name": "x"}, "type": "function"}
    usual = {
        "id": "a", "epoch": 1, "uuid": "u1", "input": "What is x?",
        "messages": [
            message("user", "What is x?"),
            message("assistant", tool_calls=[call, call | {"id": "c2"}, call | {"id": "c3"}]),
            message("tool", "42", tool_call_id="c1", function="lookup"),
            message("tool", tool_call_id="c2", error={"type": "unknown", "message": "not found"}),
        ],
        "scores": {"match": {"value": "C", "answer": "42"}, "style": {"value": 0.2}},
        "started_at": "2026-11-22T04:26:20.657844+00:00",
        "completed_at": "2026-11-22T04:26:21.247020+00:00", "total_time": 0.589,
        "model_usage": {"m": {"input_tokens": 111, "output_tokens": 52}},
    }  # fmt: skip
    return usual | fields


def _write(path, *samples, header=True, archive=zipfile, compression=zipfile.ZIP_DEFLATED):
    with archive.ZipFile(path, "w", compression) as file:
        file.writestr("_journal/start.json", json.dumps({"version": 2, "eval": EVALUATION}))
        for number, each in enumerate(samples):
            text = each if isinstance(each, str) else json.dumps(each)
            file.writestr(f"samples/{number}_epoch_1.json", text)
        if header:
            file.writestr("header.json", json.dumps({"status": "success", "eval": EVALUATION}))
    return path


@pytest.fixture
def write(tmp_path):
    return lambda *samples, **more: _write(tmp_path / "log.eval", *samples, **more)


def read(path):
    return [
        each.fields if isinstance(each, Imported) else each
        for each in read_recorded("inspect", path)
    ]


def test_a_sample(write):
    """A sample is an outcome: its calls with errors, its first score as the verdict, its costs."""
    (outcome,) = read(write(sample()))
    assert (outcome["outcome_id"], outcome["task_id"]) == ("inspect-u1", "inspect/numbers/a")
    assert (outcome["source"], outcome["instruction"]) == ("openai/gpt-6", "What is x?")
    assert (outcome["success"], outcome["outcome_source"]) == (True, "evaluator")
    assert (outcome["duration_ms"], outcome["error_count"]) == (589, 1)
    assert outcome["cost"] == {"tokens_in": 111, "tokens_out": 52}
    assert [call.get("ok") for call in outcome["tool_graph"]] == [True, False, None]
    assert outcome["tool_graph"][1]["error"] == "not found"
    assert outcome["grounds"] == [{"kind": "evaluated", "says": "match: C"}]


@pytest.mark.parametrize(
    ("value", "success"),
    [
        ("C", True), ("I", False), ("N", False), ("P", None), (1, True), (1.0, True), (0, False),
        (0.5, None), (True, True), (False, False), ({"a": 1}, None), ("pass", True), (None, None),
    ],
)  # fmt: skip
def test_scores(write, value, success):
    """Only a full score is a success, only none at all a failure; the rest is no verdict."""
    (outcome,) = read(write(sample(scores={"match": {"value": value}})))
    assert outcome["success"] is success
    assert ("outcome_source" in outcome) == (success is not None)


def test_a_sample_that_raised(write):
    """A sample that raised an error is a failure with that error."""
    error = {"message": "TimeoutError('timed out')", "traceback": "..."}
    (outcome,) = read(write(sample(error=error, scores={})))
    assert (outcome["success"], outcome["failure_mode"]) == (False, "timeout")
    assert outcome["failure_details"] == "TimeoutError('timed out')"


def test_a_sample_without_a_score(write):
    """What nobody scored has no verdict."""
    (outcome,) = read(write(sample(scores=None)))
    assert outcome["success"] is None


def test_a_log_that_was_cut_off(write):
    """A log without its header is described by its journal."""
    assert read(write(sample(), header=False))[0]["source"] == "openai/gpt-6"


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the standard library has it")
def test_zstandard(write):
    """Newer versions compress with Zstandard."""
    from backports.zstd import zipfile as newer

    path = write(sample(), archive=newer, compression=newer.ZIP_ZSTANDARD)
    assert read(path) == read(write(sample()))


def test_long_texts_that_stand_elsewhere(write):
    """Inspect keeps long texts once, and names them where they belong."""
    (outcome,) = read(write(sample(input="attachment://h1", attachments={"h1": "A long text"})))
    assert outcome["instruction"] == "A long text"


def test_bad_samples(write):
    """A bad sample is named, and the others go through."""
    found = read(write("{", sample(), "[]", sample(uuid="u2", completed_at="yesterday")))
    assert [isinstance(each, Rejected) for each in found] == [True, False, True, True]
    assert found[0].place == "record 1"


def test_what_is_no_log(tmp_path):
    """Other files are refused in one line that names them."""
    text = tmp_path / "text.eval"
    text.write_text("no archive")
    other = tmp_path / "other.eval"
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("a.txt", "b")
    for path in (text, other):
        with pytest.raises(ImportFormatError, match=f"{path.name} is not a log of inspect"):
            read(path)


def test_older_samples_have_ids_too(write):
    """Without an id of its own a sample is known by its place in the evaluation."""
    first, second = read(write(sample(uuid=None), sample(uuid=None, epoch=2)))
    assert first["outcome_id"] != second["outcome_id"]
    assert read(write(sample(uuid=None)))[0]["outcome_id"] == first["outcome_id"]
    encode_body(first)
