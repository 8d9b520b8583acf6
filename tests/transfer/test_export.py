"""An export, imported into an empty store: every list is the same to the byte."""

import json
import signal

import pytest
from sqlalchemy import select

from tests.forgetting.told_store import Told
from tests.support.dying import exit_code_of
from tests.transfer.exports import NOW, exported
from tests.transfer.killed_import import import_until
from tests.transfer.random_stores import RULES, History, all_rows, asked_for, lists
from trackrecord.errors import TransferRefused
from trackrecord.learning.competences.record import competence_id
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.resources.operation.tokens import create_token
from trackrecord.store.competences.tables import competence_numbers, competence_words
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.database.metadata import Id
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.outcomes.feedback.feedback import GivenFeedback
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.transfer.lines import RowReader
from trackrecord.store.transfer.subjects import (
    NOT_EXPORTED,
    exported_columns,
    exported_tables,
    reference_of,
    rows_of,
)
from trackrecord.wire.access_tokens import Permission


def _url(store):
    return store.url.render_as_string(hide_password=False)


def _rows(store):
    return all_rows(store, metadata.tables.values())


def _of_project(answers):
    return {asked: text for asked, text in answers.items() if not asked.startswith("projects")}


def test_every_list_of_the_import_is_the_same(store, target, imported):
    """From either database to the other one, beside other projects, now and then."""
    History(store, 80, "another").go_on(4)
    History(store, 30).go_on(25)
    index_past_tasks(store)
    before = _of_project(dict(lists(_url(store))))
    History(target, 100, "a third").go_on(4)
    done = imported(target, exported(store))
    assert (done.project, done.was_there) == ("default", False)
    assert _of_project(dict(lists(_url(target)))) == before
    assert _words(target) == _words(store)


def _words(store):
    """Return the words that selection compares of the project's records."""
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        return [
            sorted(
                tuple(row)[1:]
                for row in connection.execute(select(table).where(table.c.project_id == project_id))
            )
            for table in (competence_words, competence_numbers)
        ]


def test_the_import_goes_on_as_the_original_does(new_store, imported):
    """What comes later counts the same in both: more outcomes, amendments, a rebuild, a run."""
    store, target = new_store(), new_store()
    original = History(store, 21)
    original.go_on(15)
    History(target, 5, "another").go_on(3)
    imported(target, exported(store))
    copied = original.goes_on_in(target)
    for each in (original, copied):
        each.tell_and_consolidate()
    before, after = (_of_project(dict(lists(_url(each), each=False))) for each in (store, target))
    for asked, text in before.items():
        assert json.loads(after[asked][2:]) == approximately(json.loads(text[2:])), asked


def approximately(document):
    """Return floats to nine digits: a recomputation adds in an order of its own."""
    if isinstance(document, float):
        return pytest.approx(document, rel=1e-9)
    if isinstance(document, dict):
        return {name: approximately(value) for name, value in document.items()}
    return list(map(approximately, document)) if isinstance(document, list) else document


def test_under_another_name_it_is_a_project_of_its_own(store, imported):
    """In the same store: the same numbers, other records, and each goes on without the other."""
    History(store, 30).go_on(25)
    index_past_tasks(store)
    imported(store, exported(store), "the copy")
    for command in (["patterns", "list"], ["memories", "list"], ["criteria", "list"]):
        assert _told(store, command, "the copy") == _told(store, command, "default"), command
    patterns = _told(store, ["patterns", "list"], "default")
    mine, copied = (
        json.loads(_told(store, ["competences", "list"], name)[2:])
        for name in ("default", "the copy")
    )
    assert mine
    assert sorted(each["skill_name"] for each in mine) == sorted(
        each["skill_name"] for each in copied
    )
    assert not {each["id"] for each in mine} & {each["id"] for each in copied}
    # A signature's record is the one that consolidation finds again.
    of_signature = {competence_id("default", each["signature"]) for each in mine}
    for each in mine:
        if each["id"] in of_signature:
            found = competence_id("the copy", each["signature"])
            assert found in {record["id"] for record in copied}
    with writing(store) as connection:
        project_id = project_id_of(connection, "the copy")
        rebuild_patterns(connection, project_id, RULES, now=NOW)
    assert _told(store, ["patterns", "list"], "default") == patterns


def _told(store, command, project):
    """Return a command's output about a project."""
    return asked_for(_url(store), *command, "--project", project, "--json")


def test_a_project_with_data_is_not_mixed_with_an_export(store, target, imported):
    """The message says the way out; nothing changes."""
    History(store, 2).go_on(3)
    History(target, 3).go_on(2)
    before = _rows(target)
    with pytest.raises(TransferRefused, match="--project NAME"):
        imported(target, exported(store))
    assert _rows(target) == before


def test_an_export_is_of_one_project(store):
    """Nothing of another project is in it."""
    History(store, 2, "a secret one").go_on(12)
    History(store, 3).go_on(12)
    secret, own = exported(store, "a secret one"), exported(store)
    assert b"a secret one" in secret
    assert b"a secret one" not in own
    assert len(own.splitlines()) > 20


def test_killed_in_the_middle_nothing_is_there_and_it_can_be_run_again(
    store_url, store, new_store, tmp_path, imported
):
    """The process dies at any statement or commit."""
    source = new_store()
    History(source, 13).go_on(12)
    data = exported(source)
    path = tmp_path / "killed.jsonl"
    path.write_bytes(data)
    before = _rows(store)
    for number in (3, 12, 24, 36):
        assert exit_code_of(import_until, number, store_url, str(path)) == -signal.SIGKILL
        assert _rows(store) == before
    assert not imported(store, data).was_there
    assert dict(lists(_url(store), each=False)) == dict(lists(_url(source), each=False))


def test_every_table_is_known_to_the_transfer():
    """A new table is exported as it is, or is named in transfer/subjects.py, with every reference.

    A column of row numbers that refers to nothing known would be imported with the numbers of
    another store.
    """
    names = [table.name for table in exported_tables()]
    left_out = [table.name for table in NOT_EXPORTED]
    assert sorted([*names, *left_out]) == sorted(metadata.tables)
    for table in exported_tables():
        assert rows_of(table, 1) is not None
        for column in exported_columns(table):
            is_own = column.name == "id" and column.primary_key
            is_number = column.type is Id and not is_own
            assert not is_number or reference_of(column) is not None, str(column)
    assert RowReader()


@pytest.mark.parametrize("name", ["default", "a copy"])
def test_a_forgotten_project_does_not_come_back(store, imported, name):
    """An older export of it is refused under every name, and what it holds is named."""
    told = _told_by_two(store)
    data = exported(store)
    told.forget("project", "default", NOW + 1)
    _is_refused(store, imported, data, name)


@pytest.mark.parametrize(
    ("what", "name"), [("task", "t-1"), ("source", "bob"), ("source", "eve"), ("source", "joe")]
)
def test_a_forgotten_source_or_task_does_not_come_back(store, imported, what, name):
    """An older export is refused under another name; what is exported afterwards is taken."""
    told = _told_by_two(store)
    data = exported(store)
    told.forget(what, name, NOW + 1)
    _is_refused(store, imported, data, "a copy")
    assert not imported(store, exported(store), "a copy").was_there


def _told_by_two(store):
    """Return a history of ann and bob; of eve a memory that ann had stored, of joe a judgement."""
    told = Told(store, RULES, "default")
    for number, source in enumerate(("ann", "bob")):
        fields = {"outcome_id": f"o-{number}", "task_id": f"t-{number}", "source": source}
        told.learn([{**fields, "success": True, "patterns": ["small steps"]}], NOW - 10)
    told.remember("m-1", "tests need a redis server to run", "ann", NOW - 9)
    told.remember("m-2", "tests need a redis server to run", "eve", NOW - 8)
    judged = ("pattern", "small-steps", Verdict.HELPFUL, NOW - 7, NOW - 7)
    told.judge(GivenFeedback("f-1", *judged, source="joe"))
    return told


def _is_refused(store, imported, data, name):
    before = _rows(store)
    with pytest.raises(TransferRefused, match="was forgotten here"):
        imported(store, data, name)
    assert _rows(store) == before


def test_no_export_holds_a_token(store):
    """Neither a token nor its digest: who may read one store may not read another one for that."""
    History(store, 3).go_on(3)
    made = create_token(store, project="default", permission=Permission.ADMIN)
    data = exported(store)
    assert b'"outcomes"' in data
    for part in (made.token, made.id, made.digest):
        assert part.encode() not in data
