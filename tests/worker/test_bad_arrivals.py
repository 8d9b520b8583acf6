"""Entries of any kind that cannot be taken: each is a dead letter, and stops nothing else."""

import pytest

from tests.worker.working import add, as_sent

EXPOSURE = {"task_id": "t1", "entries": ["split-by-feature"], "exposure_id": "e1"}
HINT = {
    "hint_id": "h", "session": "s", "entry": "known failure: line make", "given": True, "text": "x",
    "kind": "known failure", "probability": 0.5, "key": "line make", "check": "test",
    "tool": "make",
}  # fmt: skip
# By kind: one that is learnt; then what cannot be taken, and the reason.
BAD = {
    "feedback": ({"pattern": "x", "verdict": "helpful"}, [
        (b"{", "invalid feedback"), (b"[]", "invalid feedback"), ({}, "verdict"),
        ({"verdict": "helpful"}, "exactly one of pattern, criterion and memory"),
        ({"verdict": "helpful", "pattern": "x", "memory": "m"}, "exactly one"),
        ({"verdict": "odd-value", "pattern": "x"}, "Not one of the allowed values"),
        ({"verdict": "helpful", "pattern": "!?"}, "neither a letter nor a digit"),
        ({"verdict": "helpful", "criterion": " "}, "blank"),
        ({"verdict": "helpful", "criterion": "x" * 129}, "criterion"),
        ({"verdict": "helpful", "pattern": "x", "timestamp": "2024-01-01T00:00"}, "offset"),
        ({"verdict": "helpful", "pattern": "x", "project": ""}, "project"),
    ]),
    "error": ({"task_id": "t", "message": "m"}, [
        (b"{", "invalid error"), (b"[]", "invalid error"), ({}, "task_id"),
        ({"task_id": "t"}, "message"), ({"task_id": "t", "message": 7}, "message"),
        ({"task_id": "t", "message": "m", "type": "odd-value"}, "Not one of the allowed values"),
        ({"task_id": "t", "report": "resolved"}, "error_id"),
        ({"task_id": "t", "report": "ended"}, "success"),
        ({"task_id": "t", "message": "m", "error_id": "a b"}, "error_id"),
        ({"task_id": "t", "message": "m", "error_id": "a\n"}, "error_id"),
        ({"task_id": "t", "message": "m", "timestamp": "2024-01-01T00:00:00"}, "offset"),
        ({"task_id": "", "message": "m"}, "task_id"),
        ({"task_id": "t", "message": "m" * 5000}, "4096 are allowed"),
    ]),
    "exposure": (EXPOSURE, [
        (b"{", "invalid exposure"), (b"[]", "invalid exposure"), (b"\xff", "invalid exposure"),
        ({"entries": []}, "task_id"), ({"task_id": "t"}, "entries"),
        ({**EXPOSURE, "task_id": ""}, "task_id"), ({**EXPOSURE, "task_id": "a\0"}, "NUL"),
        ({**EXPOSURE, "entries": [""]}, "entries"), ({**EXPOSURE, "entries": ["a\0"]}, "NUL"),
        ({**EXPOSURE, "entries": ["x"] * 1001}, "1001 entries, 1000 are allowed"),
        ({**EXPOSURE, "holdout": 2}, "holdout"), ({**EXPOSURE, "propensity": -1}, "propensity"),
        ({**EXPOSURE, "withheld": 1}, "withheld"), ({**EXPOSURE, "at": -1}, "at"),
        ({**EXPOSURE, "exposure_id": "x" * 65}, "exposure_id"),
        ({**EXPOSURE, "entries": ["x" * 200] * 30}, "4096 are allowed"),
    ]),
    "memory": ({"text": "Use uv"}, [
        (b"{", "invalid memory"), (b"[]", "invalid memory"), (b"\xff", "invalid memory"),
        (b"{}", "text"), ({"text": 7}, "text"), ({"text": " \n"}, "blank"),
        ({"text": "KNOWN PITFALL: "}, "blank"),
        ({"text": "x" * 2001}, "2001 characters, 2000 are allowed"),
        ({"text": "x", "project": ""}, "project"),
        ({"text": "x", "memory_id": "x" * 129}, "memory_id"),
        ({"text": "x", "source": "x" * 257}, "source"), ({"text": "x", "force": 1}, "force"),
        ({"text": "x" * 5000}, "4096 are allowed"),
    ]),
    "recall": ({"memories": ["cache"]}, [
        (b"{", "invalid recall"), (b"[]", "invalid recall"), (b"\xff", "invalid recall"),
        ({}, "memories"), ({"memories": "cache"}, "memories"), ({"memories": [""]}, "memories"),
        ({"memories": ["a\0"]}, "NUL"), ({"memories": ["x" * 129]}, "memories"),
        ({"memories": ["x"], "at": -1}, "at"), ({"memories": ["x"], "project": ""}, "project"),
        ({"memories": ["x"] * 1001}, "1001 memories, 1000 are allowed"),
        ({"memories": ["x" * 100] * 60}, "4096 are allowed"),
    ]),
    "hint": (HINT, [(HINT | {"probability": 2}, "probability")]),
}  # fmt: skip
COUNTED = {"error": "errors", "exposure": "exposures", "memory": "memories", "recall": "recalls",
           "hint": "hints"}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_ones_are_dead_letters(kind, worker, store_settings, client):
    """With the original, and a reason that repeats nothing of it; the others are learnt."""
    good, bad = BAD[kind]
    add(client, store_settings, kind, good, *(sent for sent, _ in bad))
    done = worker.drain.run()
    assert (done[COUNTED.get(kind, kind)], done["refused"]) == (1, len(bad))
    assert client.xlen(store_settings.keys.outcomes) == 0
    letters = {each[kind.encode()]: each for _, each in client.xrange(store_settings.keys.dead)}
    assert len(letters) == len(bad)
    for sent, reason in bad:
        said = letters[as_sent(sent)][b"reason"].decode()
        assert reason in said, sent
        assert "odd-value" not in said
