"""runs list and show: what came in, run by run."""

import re

import pytest

from tests.capture.conformance.claude_code_teller import ClaudeCodeTeller
from tests.capture.conformance.codex_teller import CodexTeller
from tests.capture.conformance.conformance_stories import Edit, Say, Shell, Story, Turn
from tests.capture.conformance.opencode_teller import OpenCodeTeller
from tests.cli.terminal import Terminal
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord.settings.projects.repositories import repository_of

CALLS = [
    {"tool": "Edit", "ok": True, "duration_ms": 12},
    {"tool": "shell:pytest", "ok": False, "error": "2 tests failed"},
]


MENDED = Story(
    "mended and committed",
    (
        Turn(
            "Fix the failing tests of the cart",
            (
                Shell("pytest -q", 1, "1 failed, 2 passed in 0.21s"),
                Edit("/src/shop/cart.py"),
                Shell("cd /src/shop && uv run pytest -q", 0, "3 passed in 0.14s"),
                Shell("git commit -am 'Mend it'", 0, "[main 1a2b3c4] Mend it\n 1 file"),
                Say("All tests pass now."),
            ),
        ),
    ),
    (),
)


@pytest.fixture
def reported(learnt):
    """Three runs: one that failed by its tests, one interrupted, one that a person judged."""
    learnt(
        {
            "outcome_id": "claude-code:s1:p1", "task_id": "t1", "success": False,
            "outcome_source": "tests", "source": "claude-code", "timestamp": 1_700_000_000,
            "instruction": "Mend the parser", "tool_graph": CALLS, "captured_from": "transcript",
            "commits": ["0a1b2c3d4e"],
            "grounds": [{"kind": "tests", "says": "shell:pytest failed", "call": 1}],
        },
        {
            "outcome_id": "codex:s2:p1", "task_id": "t2", "success": False,
            "outcome_source": "heuristic", "source": "codex", "timestamp": 1_700_000_100,
            "grounds": [{"kind": "interrupted"}], "tool_graph": CALLS[:1],
        },
        {"outcome_id": "mine-1", "task_id": "t3", "success": True, "timestamp": 1_700_000_200},
    )  # fmt: skip


@pytest.fixture
def runs(up, reported, trackrecord, project):
    """Runs a command of `runs` in the test's project, as JSON."""

    def call(*arguments, status=0):
        ran = trackrecord("runs", *arguments, "--project", project, "--json")
        assert ran.status == status, ran.err
        return ran.json

    return call


def test_as_tables(up, reported, trackrecord, project):
    """The table says why a verdict is what it is, and how many calls failed."""
    ran = trackrecord("runs", "list", "--project", project)
    header, _, _, oldest = ran.out.splitlines()
    assert header.split("\t")[3:7] == ["verdict", "because", "calls", "failed"]
    assert oldest.split("\t")[3:] == ["failure", "tests", "2", "1", "Mend the parser"]
    assert (
        "shell:pytest failed"
        in trackrecord("runs", "show", "claude-code:s1:p1", "--project", project).out
    )
    narrowed = ("--source", "gemini", "--failed", "--limit", 5)
    none = trackrecord("runs", "list", *narrowed, "--project", project)
    nothing = f"no runs to show in project {project!r} with --source 'gemini' --failed\n"
    assert none.out == nothing


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("runs", "list", "--ground", "foo"), " rests on 'foo'; there is evaluated, confirmed, "),
        (("runs", "list", "--ground", "interupted"), "; did you mean 'interrupted'?"),
        (("runs", "list", "--ground", "interrupted", "--all"), None),
        (("runs", "list", "--ground", "tests", "--source", "nobody"), None),  # an own word
        (("runs", "list", "--ground", "crashed"), None),
        (("runs", "list", "--verdict", "good"), "'success', 'failure', 'none'"),
        (("commands", "list", "--kind", "tests"), "; did you mean 'test'?"),
        (("commands", "list", "--kind", "install"), None),
        (("lessons", "list", "--tool", "foo"), None),
    ],
)
def test_a_filter_that_nothing_can_pass_is_refused(up, reported, trackrecord, project, asked, said):
    """In a line that names what exists; what may exist one day is an empty list."""
    if "--all" not in asked:
        asked = (*asked, "--project", project)
    ran = trackrecord(*asked)
    assert (said or "") in ran.err, ran.err
    assert (ran.status == 0) == (said is None)
    assert said is None or len(ran.err.splitlines()) == 1


def test_in_a_repository_its_project_is_meant(
    up_home, reported, trackrecord, project, tmp_path, monkeypatch
):
    """Once agents worked there; another repository of that name has another project."""
    claims = ProjectClaims(up_home)
    for owner in ("ours", "theirs"):
        folder = tmp_path / owner / "src"
        folder.mkdir(parents=True)
        config = tmp_path / owner / ".git" / "config"
        config.parent.mkdir()
        config.write_text(f'[remote "origin"]\n\turl = https://e.com/{owner}/{project}.git\n')
        (config.parent / "HEAD").write_text("ref: refs/heads/main\n")
        monkeypatch.chdir(folder)
        assert trackrecord("runs", "list").err.startswith("trackrecord: project 'default' does")
        claims.project(repository_of(str(folder)))
        found = trackrecord("runs", "list", "--json")
        if owner == "ours":
            assert [run["project"] for run in found.json] == [project] * 3
        else:
            assert f"{project}-" in found.err
    named = trackrecord("runs", "list", "--json", "--project", project)
    assert len(named.json) == 3


@pytest.mark.parametrize(
    ("teller", "model", "branch", "tokens"),
    [
        (ClaudeCodeTeller(), "claude-x", "main", (True, True)),
        (CodexTeller(), "gpt-6-codex", "main", (False, False)),
        (OpenCodeTeller(), "m", None, (True, True)),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_what_a_captured_run_shows(
    up, trackrecord, project, tmp_path, teller, model, branch, tokens
):
    """Its check, model, tokens, files, branch and commits, each whole on 80 columns."""
    places = teller.tell(MENDED, tmp_path)
    assert trackrecord("import", teller.name, *places, "--project", project).status == 0
    (run,) = trackrecord("runs", "list", "--project", project, "--json").json
    shown = trackrecord("runs", "show", run["outcome_id"], "--project", project, "--json").json
    assert shown["check_commands"] == run["check_commands"] == ["uv run pytest -q"]
    assert (shown["model"], shown["branch"]) == (model, branch)
    assert (shown["files_touched"], shown["commits"]) == (["cart.py"], ["1a2b3c4"])
    cost = shown["cost"] or {"tokens_in": None, "tokens_out": None}
    assert (cost["tokens_in"] is not None, cost["tokens_out"] is not None) == tokens
    command = ("runs", "show", run["outcome_id"], "--project", project)
    with Terminal(*command, columns=80, rows=200) as terminal:
        assert terminal.wait() == 0
    page, _, _ = re.sub(r"\x1b\[[0-9;]*m", "", terminal.shown).partition("grounds")
    cells = re.findall(r"^ (.{0,20}?)  +(\S.*?) *\r?$", page, re.MULTILINE)
    assert ("check commands", "uv run pytest -q") in cells
    assert ("commits", "1a2b3c4") in cells
    # A long id goes on in the next line.
    assert run["outcome_id"] in re.sub(r"\s+", "", page)
