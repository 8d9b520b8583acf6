"""Importers: the same outcomes whenever a recording is read, and no recording that breaks them."""

import collections
import contextlib
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.errors import ImportFormatError
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord_producers.importers.jsonl import read_outcomes
from trackrecord_producers.importers.records import Imported, Rejected
from trackrecord_producers.importers.register import FORMATS, read_recorded
from trackrecord_producers.importers.tau_bench_answers import read_answers

RECORDED = Path(__file__).parents[3] / "shared/data/tau-bench/gpt-4o-airline.json"


def _run(**changed):
    call = {"id": "c1", "function": {"name": "find", "arguments": '{"id": 7}'}}
    run = {
        "task_id": 0,
        "reward": 1.0,
        "trial": 0,
        "info": {"task": {"instruction": "do it"}},
        "traj": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "found"},
        ],
    }
    return {**run, **changed}


def _read(tmp_path, runs, **dump):
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(runs, **dump))
    return [each.fields for each in read_recorded("tau-bench", path)]


def _failure(tmp_path, text):
    path = tmp_path / "runs.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ImportFormatError) as caught:
        list(read_recorded("tau-bench", path))
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded runs are not on this machine")
def test_the_recorded_runs_are_read_as_they_were_counted():
    """The fixture's known totals are found again."""
    outcomes = [each.fields for each in read_recorded("tau-bench", RECORDED)]
    assert len(outcomes) == len({outcome["outcome_id"] for outcome in outcomes}) == 200
    assert sum(outcome["success"] for outcome in outcomes) == 84
    assert len({outcome["task_id"] for outcome in outcomes}) == 50
    assert sum(len(outcome["tool_graph"]) for outcome in outcomes) == 1164
    sets = collections.Counter(
        frozenset(call["tool"] for call in outcome["tool_graph"]) for outcome in outcomes
    )
    assert len(set(sets) - {frozenset()}) == 82
    successes = collections.Counter(
        frozenset(call["tool"] for call in outcome["tool_graph"])
        for outcome in outcomes
        if outcome["success"]
    )
    repeated = [tools for tools, count in successes.items() if count >= 2 and tools]
    assert len(repeated) == 13
    assert sum(sets[tools] for tools in repeated) == 87
    for outcome in outcomes:
        decode_outcome(encode_body(outcome))


def test_a_run_becomes_an_outcome_that_invents_nothing(tmp_path):
    """A field is filled in only from what was recorded."""
    (outcome,) = _read(tmp_path, [_run()])
    assert outcome.pop("outcome_id").startswith("tau-bench-")
    assert outcome.pop("task_id").startswith("tau-bench/0-")
    assert outcome == {
        "success": True,
        "outcome_source": "evaluator",
        "source": "runs",
        "instruction": "do it",
        "error_count": 0,
        "tool_graph": [{"tool": "find", "args": {"id": 7}, "id": "c1", "ok": True}],
    }


def test_the_name_of_the_file_is_the_source_and_no_part_of_the_id(tmp_path):
    """The file is named after the agent, which no run names; a crashed run has it as well."""
    crashed = {"task_id": 1, "info": {"error": "gone"}, "traj": [], "reward": 0.0, "trial": 0}
    ids = []
    for name in ("gpt-4o-airline", "sonnet-retail"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps([_run(), crashed]))
        outcomes = [each.fields for each in read_recorded("tau-bench", path)]
        assert [outcome["source"] for outcome in outcomes] == [name, name]
        ids.append([outcome["outcome_id"] for outcome in outcomes])
    assert ids[0] == ids[1]


def test_the_right_answers_are_the_tools_that_change_something(tmp_path):
    """By the names that the outcomes' tasks have; a run without an answer has none."""
    actions = [{"name": "get_user"}, {"name": "cancel_it", "kwargs": {}}, {}, 3]
    run = _run(info={"task": {"instruction": "do it", "actions": actions}})
    other = _run(task_id=1, info={"task": {"instruction": "rest", "actions": "?"}})
    crashed = {"task_id": 2, "info": {"error": "gone"}, "traj": []}
    runs = [run, other, crashed, {}, _run(traj="?"), _run(traj=[3, {"tool_calls": [{}]}])]
    (tmp_path / "answers.json").write_text(json.dumps(runs[:4]))
    answers, changing = read_answers(tmp_path / "answers.json")
    first, second = _read(tmp_path, [run, other])
    assert answers == {
        first["task_id"]: frozenset({"cancel_it"}),
        second["task_id"]: frozenset(),
    }
    assert changing == {"cancel_it"}
    (tmp_path / "answers.json").write_text(json.dumps(runs[3:]))
    assert read_answers(tmp_path / "answers.json")[1] == frozenset()


def test_only_a_full_reward_is_a_success(tmp_path):
    """A partial reward is a failure."""
    outcomes = _read(tmp_path, [_run(reward=reward) for reward in (1, 1.0, 0.99, 0, 2)])
    assert [outcome["success"] for outcome in outcomes] == [True, True, False, False, False]


def test_an_answer_that_starts_with_error_is_a_tool_error(tmp_path):
    """The recordings mark failed calls in this way."""
    run = _run()
    run["traj"][2]["content"] = "Error: no such user"
    (outcome,) = _read(tmp_path, [run])
    assert outcome["error_count"] == 1
    assert outcome["tool_graph"][0]["ok"] is False
    assert outcome["tool_graph"][0]["error"] == "Error: no such user"


def test_a_call_without_an_answer_is_neither_good_nor_bad(tmp_path):
    """Nothing is known of its result."""
    run = _run()
    del run["traj"][2]
    (outcome,) = _read(tmp_path, [run])
    assert "ok" not in outcome["tool_graph"][0]
    assert outcome["error_count"] == 0


def test_the_id_is_the_runs_own_however_its_file_is_laid_out(tmp_path):
    """Importing twice counts once."""
    first = _read(tmp_path, [_run(trial=0), _run(trial=1)])
    again = _read(tmp_path, [_run(trial=1), _run(trial=0)], indent=3, sort_keys=True)
    assert [outcome["outcome_id"] for outcome in first] == [
        outcome["outcome_id"] for outcome in reversed(again)
    ]
    assert first[0]["outcome_id"] != first[1]["outcome_id"]
    assert first[0]["task_id"] == first[1]["task_id"]


def test_tasks_of_one_number_and_different_text_are_different_tasks(tmp_path):
    """A number alone does not identify a task."""
    other = _run(info={"task": {"instruction": "something else"}})
    first, second = _read(tmp_path, [_run(), other])
    assert first["task_id"] != second["task_id"]


def test_text_that_no_store_can_hold_is_replaced(tmp_path):
    """NUL characters and lone surrogates do not cost the run."""
    run = _run(info={"task": {"instruction": "lone \ud83d and \0"}})
    run["traj"][1]["tool_calls"][0]["function"]["arguments"] = '{"x\\ud800": "\\u0000"}'
    run["traj"][2]["content"] = "Error \udfff"
    (outcome,) = _read(tmp_path, [run])
    decode_outcome(encode_body(outcome))
    assert outcome["instruction"] == "lone ? and \N{REPLACEMENT CHARACTER}"


def test_arguments_that_are_no_json_stay_a_text(tmp_path):
    """The call is kept as it was recorded."""
    run = _run()
    run["traj"][1]["tool_calls"][0]["function"]["arguments"] = "{broken"
    (outcome,) = _read(tmp_path, [run])
    assert outcome["tool_graph"][0]["args"] == "{broken"


def test_an_empty_array_is_no_run(tmp_path):
    """It yields nothing."""
    assert _read(tmp_path, []) == []


def test_a_file_is_read_in_parts(tmp_path):
    """Memory stays bounded however large the file is."""
    runs = [_run(trial=n, info={"task": {"instruction": "é" * 70_000}}) for n in range(20)]
    assert len(_read(tmp_path, runs, ensure_ascii=False)) == 20


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "array"),
        ("no json", "array"),
        ('{"task_id": 0}', "array"),
        (b"[\xff]", "UTF-8"),
        ("[1", "record 1"),
        ('[{"task_id": 0', "record 1"),
        ('[{"a": NaN}]', "record 1"),
        ('[{"a": ' + "[" * 100_000, "record 1"),
        (json.dumps([_run()])[:-1], "record 1"),
        (json.dumps([_run()])[:-1] + " 1]", "record 1"),
    ],
)
def test_what_is_no_recording_is_named_with_file_and_record(text, named, tmp_path):
    """The error says where to look."""
    assert named in _failure(tmp_path, text)


@pytest.mark.parametrize(
    ("run", "named"),
    [
        ({}, "not a run"),
        (None, "not a run"),
        (7, "not a run"),
        ([[1]], "not a run"),
        (_run(reward="1.0"), "reward"),
        (_run(reward=True), "reward"),
        (_run(task_id=None), "task_id"),
        (_run(task_id="x" * 500), "task_id"),
        (_run(traj=[7]), "traj"),
        (_run(traj=[{"tool_calls": 7}]), "tool_calls"),
        (_run(traj=[{"tool_calls": [{"id": []}]}]), "function"),
        (_run(info={"task": {"instruction": "x" * 2**20}}), "bytes"),
    ],
)
def test_a_bad_run_is_named_and_the_good_ones_go_on(run, named, tmp_path):
    """A record that is not a run of tau-bench stops no other one."""
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([_run(), run, _run(trial=1)]))
    first, bad, last = read_recorded("tau-bench", path)
    assert (type(first), type(last)) == (Imported, Imported)
    assert (bad.record, named in bad.reason) == (2, True)


@pytest.mark.parametrize("traj", [[], None])
def test_a_run_that_crashed_is_a_failure_with_its_error(traj, tmp_path):
    """As the benchmark's own files record it: no task, no chat, an error and a traceback."""
    info = {"error": "Request timed out.", "traceback": "Traceback (most recent call last): ..."}
    (outcome,) = _read(tmp_path, [_run(reward=0.0, info=info, traj=traj)])
    assert (outcome["success"], outcome["failure_mode"], outcome["error_count"]) == (
        False, "timeout", 1,
    )  # fmt: skip
    assert (outcome["task_id"], outcome["tool_graph"]) == ("tau-bench/0", [])
    assert (outcome["failure_details"], "instruction" in outcome) == (info["error"], False)
    decode_outcome(encode_body(outcome))


def test_a_file_that_is_not_there_and_a_format_that_is_not_known(tmp_path):
    """Both are errors of one line."""
    for name in FORMATS:
        with pytest.raises(ImportFormatError, match=r"missing\.json cannot be read"):
            list(read_recorded(name, tmp_path / "missing.json"))
    with pytest.raises(ImportFormatError, match="inspect, jsonl, tau-bench"):
        read_recorded("unknown", tmp_path)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_parts = st.fixed_dictionaries(
    {},
    optional={
        "task_id": _values,
        "reward": _values | st.just(10**400),
        "info": _values
        | st.fixed_dictionaries({"task": _values})
        | st.fixed_dictionaries({"error": _values}),
        "traj": _values
        | st.lists(
            st.fixed_dictionaries(
                {},
                optional={"role": st.just("tool"), "content": _values, "tool_calls": _values}
                | {"tool_call_id": _values},
            )
        ),
    },
)


@given(changed=_parts)
def test_any_json_is_read_or_refused(changed, tmp_path_factory):
    """No document raises anything else than the documented error."""
    path = tmp_path_factory.mktemp("runs") / "runs.json"
    path.write_text(json.dumps([{**_run(), **changed}]))
    try:
        (record,) = read_recorded("tau-bench", path)
    except ImportFormatError:  # a number that JSON does not have
        return
    if isinstance(record, Imported):
        decode_outcome(encode_body(record.fields))


@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content, tmp_path_factory):
    """No bytes raise anything else than the documented error."""
    path = tmp_path_factory.mktemp("runs") / "runs.json"
    path.write_bytes(content)
    with contextlib.suppress(ImportFormatError):
        list(read_recorded("tau-bench", path))
    list(read_recorded("jsonl", path))


def _lines(content, **options):
    return list(read_outcomes(io.BytesIO(content), **options))


WHOLE = b'{"task_id":"t","success":true}'


def test_a_bad_line_is_named_and_the_good_ones_go_on():
    """By its number in the file."""
    first, bad, second, third = _lines(
        WHOLE + b"\n{broken\n\n" + WHOLE[:-1] + b',"outcome_id":"mine","x":[1]}\r\n' + WHOLE
    )
    assert isinstance(first, Imported)
    assert isinstance(bad, Rejected)
    assert (bad.record, second.record, third.record) == (2, 4, 5)
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
    assert [type(each) for each in results] == [Rejected, Imported]
    assert [each.record for each in results] == [1, 2]
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


def test_a_document_that_is_too_long_is_refused_line_by_line():
    """So that no more than the bound is held."""
    content = b"[" + b",\n".join([WHOLE] * 100) + b"]"
    results = _lines(content, max_document_bytes=500)
    assert len(results) == 100
    assert isinstance(results[0], Rejected)


def test_success_that_is_null_stays():
    """It says that nobody knows, which is not the same as saying nothing."""
    (each,) = _lines(b'{"task_id":"t","success":null,"strategy":null}')
    assert each.fields.keys() == {"task_id", "success", "outcome_id"}
    assert each.fields["success"] is None
    (refused,) = _lines(b'{"task_id":"t"}')
    assert isinstance(refused, Rejected)


def test_fields_that_are_null_are_left_out():
    """They say nothing, and a project or an id that is null is filled in."""
    (each,) = _lines(WHOLE[:-1] + b',"outcome_id":null,"project":null}')
    assert set(each.fields) == {"task_id", "success", "outcome_id"}
