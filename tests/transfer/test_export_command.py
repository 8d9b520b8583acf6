"""`trackrecord export`, and `trackrecord import jsonl` of what it wrote."""

import json
import stat

import pytest

from tests.transfer.exports import exported
from tests.transfer.random_stores import History, lists
from trackrecord_cli.main import run

ASKED = ("patterns list", "competences list", "memories list", "runs list --limit 1000")


@pytest.fixture
def at(home, monkeypatch):
    """Makes the commands of this test use a store."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))

    def use(store):
        url = store.url.render_as_string(hide_password=False)
        monkeypatch.setenv("TRACKRECORD_DATABASE_URL", url)
        return url

    return use


def test_out_and_in_again(store, target, at, tmp_path, capfd):
    """Into a file that nobody else may read; the answer of the import says what it did."""
    History(store, 30).go_on(20)
    path = tmp_path / "mine.jsonl"
    source_url = at(store)
    capfd.readouterr()
    assert run(["export", str(path)]) == 0
    out, err = capfd.readouterr()
    assert (out, "exported" in err) == ("", True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.glob("*mine.jsonl*")] == ["mine.jsonl"]
    target_url = at(target)
    assert run(["import", "jsonl", str(path), "--json"]) == 0
    (document,) = json.loads(capfd.readouterr().out)
    assert (document["project"], document["was_there"]) == ("default", False)
    assert run(["import", "jsonl", str(path)]) == 0
    assert "nothing was changed" in capfd.readouterr().out
    before, after = (dict(lists(url, each=False)) for url in (source_url, target_url))
    for asked in ASKED:
        command, _, limit = asked.partition(" --")
        asked = f"{command}{' --' + limit if limit else ''} --project default --json"
        assert after[asked] == before[asked]
    assert run(["import", "jsonl", str(path), "--project", "b"]) == 0
    assert "project 'b'" in capfd.readouterr().out


def test_into_a_pipe(new_store, at, capfd):
    """Standard output has the lines and nothing else."""
    store = new_store()
    History(store, 3).go_on(5)
    at(store)
    capfd.readouterr()
    assert run(["export", "-"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert json.loads(lines[0])["project"] == "default"
    assert json.loads(lines[-1])["table"] == "end"
    assert len(lines) == len(exported(store).splitlines())
    outcome = next(json.loads(each) for each in lines if each.startswith('{"table":"outcomes"'))
    assert outcome["body"]["outcome_id"] == outcome["outcome_id"]


def test_what_cannot_be_done_is_said(new_store, at, tmp_path, capfd):
    """A project that is not there, a folder that is not there, a file that is something else."""
    store = new_store()
    History(store, 3).go_on(5)
    at(store)
    plain = tmp_path / "plain.jsonl"
    plain.write_text('{"task_id": "t", "success": true}\n', encoding="utf-8")
    whole = tmp_path / "whole.jsonl"
    assert run(["export", str(whole)]) == 0
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(whole.read_bytes()[:-20])
    capfd.readouterr()
    for command, status, reason in (
        (["export", "--project", "defualt"], 1, "did you mean 'default'?"),
        (["export", str(tmp_path / "nowhere" / "x")], 2, "No such file"),
        (["import", "jsonl", str(whole)], 2, "has data already"),
        (["import", "jsonl", str(cut), "--project", "b"], 2, "nothing was imported"),
        (["import", "jsonl", str(plain), str(whole)], 2, "is not an export"),
    ):
        assert run(command) == status
        out, err = capfd.readouterr()
        assert (out, len(err.splitlines()), reason in err) == ("", 1, True), err
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(".")) == []
