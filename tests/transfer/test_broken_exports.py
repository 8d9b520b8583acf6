"""An export that is broken, cut off or hostile: one line says why, and nothing is imported."""

import base64
import json
import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from tests.transfer.exports import exported, import_into
from tests.transfer.random_stores import History, all_rows
from trackrecord import __version__
from trackrecord.errors import ImportFormatError, SchemaTooNew, TrackrecordError
from trackrecord.store.database.engine import reading
from trackrecord.store.database.migrate import newest_revision
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.outcomes.tables import projects
from trackrecord.store.transfer.importing import is_export


@pytest.fixture(scope="module")
def export(new_store):
    """An export with rows of most tables."""
    store = new_store()
    History(store, 13).go_on(40)
    return exported(store)


def _with(data, table, changed):
    """An export whose first row of a table is another one, and the number of its line."""
    lines = data.splitlines()
    start = f'{{"table":"{table}"'.encode()
    place = next(number for number, line in enumerate(lines) if line.startswith(start))
    lines[place] = json.dumps(json.loads(lines[place]) | changed).encode()
    return b"\n".join(lines) + b"\n", place + 1


def _rows(*values):
    """The body of a receipt."""
    return base64.b64encode(msgspec.msgpack.encode(values)).decode()


BROKEN = [
    ("outcomes", {"success": "yes"}, "Expected `bool | null`"),
    ("outcomes", {"verdict": "great"}, "verdict"), ("outcomes", {"body": {"task_id": 3}}, "body"),
    ("outcomes", {"body": "no base64!"}, "base64"), ("outcomes", {"id": 0}, ">= 1"),
    ("outcomes", {"id": 2**70}, "id"), ("outcomes", {"task_id": "x" * 300}, "length"),
    ("outcomes", {"project_id": 1}, "unknown field `project_id`"),
    ("receipts", {"number": 10**9}, "no row 1000000000 of "),
    ("receipts", {"ended_at": None}, "ended_at"),
    ("receipts", {"kind": 7}, "kind"),
    ("receipts", {"rows": "AAAA"}, "rows"),
    ("receipts", {"rows": _rows(1, 10**9, 16, 1, 1, 0)}, "no row 1000000000 of items"),
    ("receipts", {"rows": _rows(1, 1, 16, -1, 1, 0)}, "rows"),
    ("receipts", {"rows": _rows(1, 1, 9999, 1, 1, 0)}, "rows"),
    ("receipts", {"rows": _rows(1, 1, 16, 1, float("nan"), 0)}, "rows"),
    ("runs", {"digest": "AAAA"}, "digest"),
    ("items", {"table": "sqlite_master"}, "sqlite_master"),
    ("items", {"table": "leases"}, "leases"),
    ("items", {"subject": 2**63}, "subject"),
    ("items", {"decided_maturity": "holy"}, "decided_maturity"),
    ("memories", {"type": "lie"}, "type"),
    ("hints", {"probability": 2.0}, "probability"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "changed", "reason"), BROKEN)
def test_a_broken_line_is_named_and_nothing_is_imported(
    table, changed, reason, export, new_store, imported
):
    """One line says which, and why; all or nothing."""
    target = new_store()
    data, number = _with(export, table, changed)
    with pytest.raises(ImportFormatError) as refused:
        imported(target, data)
    said = str(refused.value)
    assert said.startswith(f"line {number}: ")
    assert reason in said
    assert "nothing was imported" in said
    assert len(said.splitlines()) == 1
    assert not any(all_rows(target, metadata.tables.values()).values())


# An example takes a twentieth of a second: it makes a store and imports up to the damage.
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), is_cut=st.booleans())
def test_whatever_the_bytes_are_it_is_all_or_nothing(
    seed, is_cut, export, new_store, tmp_path_factory
):
    """Damaged anywhere: refused in one line, or imported; never a traceback, never a half."""
    choose = random.Random(seed)
    damaged = bytearray(export)
    if is_cut:
        del damaged[choose.randrange(30, len(damaged)) :]
    else:
        for _ in range(choose.randint(1, 4)):
            damaged[choose.randrange(30, len(damaged))] = choose.randrange(256)
    path = tmp_path_factory.mktemp("damaged") / "export.jsonl"
    target = new_store()
    said = ""
    try:
        import_into(target, path, bytes(damaged))
    except TrackrecordError as error:
        said = str(error)
    with reading(target) as connection:
        names = connection.execute(select(projects.c.name)).scalars().all()
    target.dispose()
    assert len(names) == (0 if said else 1)
    assert len(said.splitlines()) <= 1


def test_what_is_missing_or_doubled_is_noticed(export, new_store, imported):
    """A file that is cut off, one with a line less, and one with a line twice."""
    target = new_store()
    lines = export.splitlines(keepends=True)
    changes = [line for line in lines if line.startswith(b'{"table":"memory_changes"')]
    wrong = {
        "is not complete": [lines[:-1], lines[:1]],
        "missing or doubled": [[line for line in lines if line is not changes[-1]]],
        "does not take rows": [[*lines[:-1], changes[0], lines[-1]]],
    }
    for reason, files in wrong.items():
        for file in files:
            with pytest.raises(TrackrecordError, match=reason):
                imported(target, b"".join(file))
    imported(target, b"".join(lines))


def test_an_export_of_another_form_is_told_apart(export, new_store, imported, tmp_path):
    """A newer one names what reads it; what is not an export is no one's business here."""
    first, rest = export.split(b"\n", 1)
    for form, revision in ((2, newest_revision()), (1, "next")):
        header = json.loads(first)
        newer = header | {"trackrecord_export": form, "version": "9.8\n", "revision": revision}
        target = new_store()
        with pytest.raises(SchemaTooNew) as refused:
            imported(target, json.dumps(newer, separators=(",", ":")).encode() + b"\n" + rest)
        said = f"the export is of trackrecord 9.8, and this is {__version__}: install that version"
        assert str(refused.value).startswith(said)
        assert "\n" not in str(refused.value)
        assert not any(all_rows(target, metadata.tables.values()).values())
    for header in (b'{"trackrecord_export":1}', b'{"trackrecord_export":' + b"1" * 10_000):
        with pytest.raises(ImportFormatError, match="line 1"):
            imported(new_store(), header + b"\n" + rest)
    outcome = tmp_path / "outcomes.jsonl"
    outcome.write_text('{"task_id": "t", "success": true}\n', encoding="utf-8")
    assert not is_export(outcome)
    assert not is_export(tmp_path / "nowhere")
