"""`trackrecord notify` and `trackrecord news`, as a person types them."""

import json

import pytest


@pytest.fixture
def proven(learnt):
    """A pattern with six helpful outcomes."""
    learnt(*({"task_id": f"t{n}", "success": True, "patterns": ["Split by feature"]}
             for n in range(6)))  # fmt: skip


def test_news(up, proven, trackrecord, project):
    """As a table and as JSON; of the last day, or of the time that is named."""
    (news,) = trackrecord("news", "--project", project, "--json").json
    assert (news["kind"], news["project"]) == ("pattern.proven", project)
    table = trackrecord("news", "--project", project)
    assert "became proven (6 helpful, 0 harmful)" in table.out
    past = trackrecord("news", "--project", project, "--at", "2020-01-01")
    assert (past.status, past.out) == (
        0, f"nothing changed in project {project!r} after 2019-12-31T00:00:00.000Z\n",
    )  # fmt: skip
    wrong = trackrecord("news", "--project", project, "--since", "2026-01-02", "--at", "2026-01-01")
    assert wrong.status == 2
    assert trackrecord("news", "--project", project, "--limit", "1").err == ""


def test_nobody_is_told(nothing_up, trackrecord):
    """One line says what to set."""
    for name in ("test", "waiting"):
        ran = trackrecord("notify", name)
        assert ran.status == 2
        assert "TRACKRECORD_NOTIFY__COMMAND" in ran.err
        assert ran.err.count("\n") == 1


def test_a_test_message(nothing_up, trackrecord, monkeypatch, tmp_path):
    """The command gets it; one that fails is said to have failed."""
    told = tmp_path / "told"
    monkeypatch.setenv("TRACKRECORD_NOTIFY__COMMAND", json.dumps(["sh", "-c", f'cat > "{told}"']))
    ran = trackrecord("notify", "test")
    assert (ran.status, ran.out) == (0, "the command took the test message\n")
    assert json.loads(told.read_text())["type"] == "test"
    monkeypatch.setenv("TRACKRECORD_NOTIFY__COMMAND", '["sh", "-c", "exit 4"]')
    ran = trackrecord("notify", "test", "--json")
    assert ran.status == 1
    assert ran.json == {"problem": "the command ended with status 4"}


def test_what_waits(up, trackrecord, monkeypatch):
    """Nothing, where nobody's news were looked for."""
    monkeypatch.setenv("TRACKRECORD_NOTIFY__COMMAND", '["true"]')
    assert trackrecord("notify", "waiting").out == "nothing is waiting: all was told\n"
    assert trackrecord("notify", "waiting", "--json").json == []
