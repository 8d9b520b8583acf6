"""Whatever arrives in the stream: what can be learnt is, the rest is set aside as it came."""

import json
from typing import Any

import click.testing
import msgspec
import pytest
import redis
from sqlalchemy import select

from tests.worker.working import all_counted, body, changed, learnt_counts, publish, recorded_ids
from trackrecord.errors import InvalidEntry
from trackrecord.resources.operation.dead_letters import DEAD_LETTERS
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord.settings.projects.repositories import Repository
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.wire.kinds import KINDS, decoder_of
from trackrecord_cli.resource_commands import declared
from trackrecord_worker.learning.drain import ENTRY_KINDS

# What is wrong, the body, and a part of the reason that is to be given.
BAD_BODIES: list[tuple[str, bytes, str]] = [
    ("empty", b"", "truncated"),
    ("no JSON", b"success: yes", "malformed"),
    ("cut off", b'{"task_id":"t","succ', "truncated"),
    ("an array", b'[{"task_id":"t","success":true}]', "Expected `object`"),
    ("a string", b'"outcome"', "Expected `object`"),
    ("null", b"null", "Expected `object`"),
    ("not UTF-8", b'{"task_id":"\xff","success":true}', "not UTF-8"),
    ("too large", body(metadata={"x": "y" * 5000}), "4096 are allowed"),
    ("no task", b'{"success":true}', "task_id is missing"),
    ("no success", b'{"task_id":"t"}', "success"),
    ("success as text", b'{"task_id":"t","success":"true"}', "$.success"),
    ("success as number", b'{"task_id":"t","success":1}', "$.success"),
    ("negative duration", body(duration_ms=-1), "$.duration_ms"),
    ("fraction of an error", body(error_count=1.5), "$.error_count"),
    ("count beyond 2^53", body(retry_count=2**53 + 1), "$.retry_count"),
    ("NaN", b'{"task_id":"t","success":true,"timestamp":NaN}', "malformed"),
    ("NaN in metadata", b'{"task_id":"t","success":true,"metadata":{"a":NaN}}', "malformed"),
    ("infinity", b'{"task_id":"t","success":true,"timestamp":1e999}', "out of range"),
    ("unknown verdict", body(criteria={"readable": "great"}), "$.criteria"),
    ("time without offset", body(timestamp="2026-11-21T03:00:00"), "no offset"),
    ("time before 1970", body(timestamp=-5), "before 1970"),
    ("task of 257 characters", body(task_id="t" * 257), "$.task_id"),
    ("id of 129 characters", body(outcome_id="o" * 129), "$.outcome_id"),
    ("empty project", body(project=""), "$.project"),
    ("metadata as array", body(metadata=[1]), "metadata must be an object"),
    ("patterns as text", body(patterns="Split by feature"), "$.patterns"),
    (
        "10,000 deep",
        b'{"task_id":"t","success":true,"trigger":{"signal":' + b"[" * 1990 + b"]" * 1990 + b"}}",
        "$.trigger.signal",
    ),
]


def dead_letters(client: redis.Redis, settings: Settings) -> list[dict[bytes, bytes]]:
    letters: Any = client.xrange(settings.keys.dead)
    return [fields for _, fields in letters]


def test_every_bad_body_goes_to_the_dead_letters_as_it_came(worker, store_settings, client, engine):
    """Each with its reason and its own bytes; every good one of the same batch is learnt."""
    entry_ids = []
    for number, (_, bad, _) in enumerate(BAD_BODIES):
        entry_ids += publish(client, store_settings, body(number), bad)[1:]
    done = worker.drain.run()
    assert (done["recorded"], done["refused"]) == (len(BAD_BODIES), len(BAD_BODIES))
    assert done["batches"] == 1
    letters = dead_letters(client, store_settings)
    for entry_id, letter, (name, bad, reason) in zip(entry_ids, letters, BAD_BODIES, strict=True):
        assert letter[b"body"] == bad, name
        assert letter[b"v"] == b"1", name
        assert letter[b"entry_id"] == entry_id, name
        assert reason in letter[b"reason"].decode(), name
    assert learnt_counts(engine) == all_counted(len(BAD_BODIES))
    assert client.xlen(store_settings.keys.outcomes) == 0


ODD = (
    b"\\ud83d", b"\\uDE00", b"\\u0000", b"\\\\\\ud83d", b"\xed\xa0\xbd", b"\\ud83d\\ude00\\ud83d",
)  # fmt: skip
PLACES = (
    b'"description":"a%b"', b'"metadata":{"%":1}', b'"tool_graph":[{"tool":"x","args":["%"]}]',
)  # fmt: skip


def test_what_no_database_holds_is_replaced_and_the_rest_is_learnt(
    worker, store_settings, client, engine
):
    """Half an emoji or NUL, wherever it stands; counted, and no dead letter."""
    said = [where.replace(b"%", odd) for where in PLACES for odd in ODD]
    publish(client, store_settings, *(b'{"task_id":"t","success":true,%s}' % each for each in said))
    done = worker.drain.run()
    assert (done["recorded"], done["refused"], done["mended"]) == (len(said), 0, len(said))
    with reading(engine) as connection:
        stored = connection.execute(select(outcomes.c.body)).scalars().all()
    for each in stored:
        assert "\ufffd" in json.dumps(json.loads(each), ensure_ascii=False)


def test_a_nest_of_ten_thousand(worker_of, store_settings, client):
    """However deep, wherever: it stops nothing."""
    deep = b"[" * 10_000 + b"]" * 10_000
    objects = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
    head = b'{"task_id":"t","success":true,'
    publish(
        client,
        store_settings,
        deep,
        objects,
        head + b'"metadata":' + objects + b"}",
        head + b'"tool_graph":[{"tool":"a","args":' + objects + b"}]}",
        head + b'"later":' + deep + b"}",
        body(1),
    )
    roomy = changed(store_settings, max_body_bytes=2**20)
    done = worker_of(roomy).drain.run()
    assert done["recorded"] + done["refused"] == 6
    assert done["recorded"] >= 1
    assert all(letter[b"reason"] for letter in dead_letters(client, store_settings))


def test_entries_that_are_not_of_the_protocol(worker, store_settings, client, engine):
    """No body, an unknown version: set aside with every field they had."""
    stream = store_settings.keys.outcomes
    client.xadd(stream, {"v": "1", "text": "hello"})
    client.xadd(stream, {"v": "2", "body": body(2), "trace": b"\xff\x00"})
    client.xadd(stream, {"body": body(3)})
    client.xadd(stream, {b"\xfe": b"\xfd"})
    client.xadd(stream, {"v": "1", "body": body(4), "trace": "abc"})
    done = worker.drain.run()
    assert (done["recorded"], done["refused"]) == (1, 4)
    assert recorded_ids(engine) == {"o4"}
    without_ours = [
        {name: value for name, value in letter.items() if name not in (b"reason", b"entry_id")}
        for letter in dead_letters(client, store_settings)
    ]
    assert without_ours == [
        {b"v": b"1", b"text": b"hello"},
        {b"v": b"2", b"body": body(2), b"trace": b"\xff\x00"},
        {b"body": body(3)},
        {b"\xfe": b"\xfd"},
    ]
    reasons = [letter[b"reason"] for letter in dead_letters(client, store_settings)]
    assert reasons[0] == b"field body is missing"
    assert all(b"field v is not 1" in reason for reason in reasons[1:])


def test_every_kind_on_the_wire_has_a_decoder_and_an_intake():
    """A kind that was forgotten in one of the two tables would be refused by every worker."""
    assert {kind.name for kind in ENTRY_KINDS} == set(KINDS)
    for kind in KINDS:
        with pytest.raises(InvalidEntry):
            decoder_of(kind)(b"nonsense")


def test_reasons_never_repeat_content(worker, store_settings, client):
    """A dead letter's reason is shown in logs and lists; a secret in a body must not be."""
    publish(
        client,
        store_settings,
        body(outcome_source="s3cr3t"),
        body(criteria={"s3cr3t": 1}),
        b's3cr3t{"',
        body(duration_ms="s3cr3t"),
        body(timestamp="s3cr3t"),
    )
    assert worker.drain.run()["refused"] == 5
    for letter in dead_letters(client, store_settings):
        assert b"s3cr3t" not in letter[b"reason"]


def replay(settings: Settings, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)
    result = click.testing.CliRunner().invoke(declared(DEAD_LETTERS), ["replay", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_replay_after_the_limit_was_raised(
    worker, worker_of, store_settings, client, engine, monkeypatch
):
    """A body that was too large is learnt once, as it came; what is still wrong comes back."""
    large = body(1, metadata={"x": "y" * 5000})
    publish(client, store_settings, large, b"never right")
    assert worker.drain.run()["refused"] == 2
    raised = changed(store_settings, max_body_bytes=8192)
    assert "2 put back" in replay(raised, monkeypatch, "--all")
    assert client.xlen(store_settings.keys.dead) == 0
    done = worker_of(raised).drain.run()
    assert (done["recorded"], done["refused"]) == (1, 1)
    (left,) = dead_letters(client, store_settings)
    assert left[b"body"] == b"never right"
    assert learnt_counts(engine) == all_counted(1)


def test_replay_of_one_letter_leaves_the_others(worker, store_settings, client, monkeypatch):
    """And takes nothing of ours back into the stream."""
    publish(client, store_settings, b"first", b"second")
    worker.drain.run()
    letters: Any = client.xrange(store_settings.keys.dead)
    replay(store_settings, monkeypatch, letters[0][0].decode())
    waiting: Any = client.xrange(store_settings.keys.outcomes)
    assert [fields for _, fields in waiting] == [{b"v": b"1", b"body": b"first"}]
    assert [letter[b"body"] for letter in dead_letters(client, store_settings)] == [b"second"]


def test_any_json_at_all_stops_nothing(worker, store_settings, client):
    """Values of every type in every field."""
    values: list[object] = [None, True, 0, -1, 1.5, 2**80, "", "x", [], [None], {}, {"a": 1}]
    fields = msgspec.json.decode(body(0)).keys() | {
        "bead_id", "project", "timestamp", "source", "outcome_source", "strategy", "description",
        "trigger", "instruction", "tool_graph", "files_touched", "criteria", "failure_mode",
        "failure_details", "competence_id", "memory_ids", "process", "cost", "metadata",
    }  # fmt: skip
    bodies = [
        body(**{"outcome_id": f"{field}-{index}", field: value})
        for field in sorted(fields)
        for index, value in enumerate(values)
    ]
    publish(client, store_settings, *bodies, body(9999))
    done = worker.drain.run()
    assert done["recorded"] + done["duplicates"] + done["refused"] == len(bodies) + 1
    assert client.xlen(store_settings.keys.outcomes) == 0


def test_a_name_that_programs_gave_is_no_repositorys(worker, client, settings):
    """The first repository of that name gets a suffix; one that sessions fed before keeps it."""
    publish(client, worker.settings, body(1, project="hrpay"))
    captured = {"captured_from": "transcript"}
    publish(client, worker.settings, body(2, project="shop", **captured), body(3, project="shop"))
    memory = b'{"text":"Use uv","project":"notes"}'
    client.xadd(worker.settings.keys.outcomes, {"v": "1", "memory": memory})
    worker.drain.run()
    claims = ProjectClaims(settings.home)
    assert claims.project(Repository("notes", "example.com/notes", "/src/notes")) != "notes"
    assert claims.project(Repository("hrpay", "example.com/hrpay", "/src/hrpay")) != "hrpay"
    assert claims.project(Repository("shop", "example.com/shop", "/src/shop")) == "shop"
