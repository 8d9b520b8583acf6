"""`trackrecord move`: what it says, and what it never says."""

import json

from sqlalchemy import inspect

from tests.transfer.random_stores import History, asked_for, lists
from trackrecord_cli.main import run


def test_the_store_is_moved_and_says_what_comes_next(
    new_store, postgres_url, opened, home, monkeypatch, capfd
):
    """Counted first, then moved; whoever writes to the old one is told where it is."""
    store = new_store()
    History(store, 8).go_on(8)
    before = dict(lists(str(store.url)))
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", str(store.url))
    assert run(["move", "--to", postgres_url, "--dry-run", "--json"]) == 0
    counted = json.loads(capfd.readouterr().out)
    assert not inspect(opened(postgres_url)).get_table_names()
    assert run(["move", "--to", postgres_url]) == 0
    out, err = capfd.readouterr()
    assert f"{counted['rows']} rows moved to postgresql" in out
    assert ("set TRACKRECORD_DATABASE_URL" in out, err) == (True, "")
    assert dict(lists(postgres_url)) == before
    assert run(["memories", "add", "Too late"]) == 3
    assert "this store was moved to postgresql" in capfd.readouterr().err
    assert run(["move", "--to", postgres_url, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["rows"] == counted["rows"]
    assert run(["move", "--cancel"]) == 0
    assert run(["memories", "add", "In time again"]) == 0
    assert asked_for(str(store.url), "memories", "list", "--json") != before


def test_a_password_is_never_shown(home, monkeypatch, capfd):
    """Neither where the server is away nor where the URL is malformed."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    for url, status in (
        ("postgresql://ann:s3cret@127.0.0.1:1/db?password=s3cret", 3),
        ("postgresql://ann:s3cret@127.0.0.1:nowhere/db", 2),
        ("mysql://ann:s3cret@127.0.0.1/db", 2),
    ):
        assert run(["move", "--to", url]) == status
        out, err = capfd.readouterr()
        assert "s3cret" not in out + err
        assert len(err.splitlines()) == 1
        assert "--to" in err


def test_a_dry_run_makes_no_file(home, monkeypatch, capfd, tmp_path):
    """The database that was named may not be there yet, and is not there afterwards."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    target = tmp_path / "new" / "there.db"
    assert run(["move", "--to", f"sqlite:///{target}", "--dry-run"]) == 0
    assert "0 rows would be moved" in capfd.readouterr().out
    assert not target.parent.exists()


def test_what_fits_together_is_said(home, monkeypatch, capfd):
    """A URL or --cancel, and never both."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    for wrong in (["move"], ["move", "--cancel", "--to", "sqlite:///x.db"]):
        assert run(wrong) == 2
        assert "one of --to URL and --cancel" in capfd.readouterr().err
