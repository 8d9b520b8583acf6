"""Which commands verify, which change files, and which commits they make."""

import pytest

from tests.capture.verdict_corpus import lines_in
from trackrecord_capture.agent_run import RunCall
from trackrecord_capture.shell.checks import checks_of
from trackrecord_capture.shell.edits import edits_of
from trackrecord_capture.shell.git import commits_of


@pytest.mark.parametrize(
    ("line", "name", "zero", "otherwise"),
    [
        ("cd x && uv run pytest -q", "pytest", True, True),
        ("set -e\ncd x\npytest\necho ok", "pytest", True, True),
        ("sed -i s/a/b/ x.py && pytest", "pytest", True, True),
        ("pytest && git commit -m x", "pytest", True, False),
        ("npm ci && npm test", "npm test", True, False),
        ("(cd x && pytest) | tail", "pytest", False, False),
        ("pytest; echo done", "pytest", False, False), ("pytest &", "pytest", False, False),
        ("! pytest", "pytest", False, False),
        ("for f in *; do pytest $f; done", "pytest", False, False),
        ("if pytest; then echo ok; fi", "pytest", False, False),
        ("python run_tests.py", "run_tests.py", True, True), ("make", "make", True, True),
        ("ruff format --check .", "ruff format", True, True), ("gcc -o a a.c", "gcc", True, True),
    ],
)  # fmt: skip
def test_what_the_exit_status_says_of_a_check(line: str, name: str, zero: bool, otherwise: bool):
    """Only a status that can be the check's own says how the check ended."""
    (check,) = checks_of(line)
    assert (check.name, check.passed_at_zero, check.failed_otherwise) == (name, zero, otherwise)


@pytest.mark.parametrize(
    "line",
    [
        "test -f x && ls", "git check-ignore x", "cat test_a.py", "echo 'run pytest && mypy'",
        "pytest --collect-only -q", "ruff format .", "python repro_test.py", "cat <<'E'\npytest\nE",
    ],
)  # fmt: skip
def test_what_verifies_nothing(line: str):
    """A word in an argument, a formatter at work or a script that reproduces a bug is no check."""
    assert checks_of(line) == ()


@pytest.mark.parametrize(
    ("line", "edits"),
    [
        ("sed -i s/a/b/ x.py", [(0, "")]), ("sed -n 1,5p x.py", []),
        ("echo x > a.py", [(0, "a.py")]), ("pytest 2>&1 >/dev/null", []),
        ("cat > a.py <<'E'\nx\nE", [(0, "a.py")]), ("mv a b", [(0, "a"), (0, "b")]),
        ("git checkout -b topic", []), ("git checkout -- .", [(0, "")]),
        ("git reset --hard HEAD~1", [(0, "")]), ("pytest && ruff format .", [(1, "")]),
        ("ruff check --fix .", [(0, "")]),
        ("python - <<'E'\nopen('a.py', 'w').write('x')\nE", [(0, "")]),
        ("python -c \"print(open('a').read())\"", []), ("echo 'x > y'", []),
    ],
)  # fmt: skip
def test_which_commands_change_files(line: str, edits: list[tuple[int, str]]):
    """A step that changes files is known with the files it names."""
    assert list(edits_of(line)) == edits


def test_what_changes_the_work():
    """Formatters, generators, package managers, downloads and editors, by task or by option."""
    assert [line for line in lines_in("editing_lines.txt") if not edits_of(line)] == []
    assert [line for line in lines_in("keeping_lines.txt") if edits_of(line)] == []
    assert edits_of("sed -i s/a/b/ /opt/notes; curl -o /opt/x https://example.com/x") == (
        (0, "/opt/notes"),
        (1, "/opt/x"),
    )


def _git(command: str, result: str = "", *, ok: bool = True) -> RunCall:
    return RunCall(tool="Bash", command=command, result=result, ok=ok)


def test_commits_are_read_from_what_git_says():
    """Branches with blanks in front, first commits and detached heads are understood."""
    calls = [
        _git("git commit -m x", "[main (root-commit) 1a2b3c4] x\n 1 file changed"),
        _git("git add . && git commit -m y", "[detached HEAD 2b3c4d5] y"),
        _git("cat log", "[main 9999999] no commit of ours"),
        _git("git commit --quiet -m z"),
    ]
    assert commits_of(calls) == ("1a2b3c4", "2b3c4d5")


def test_a_quiet_commit_whose_hash_is_asked_for():
    """The hash that the same line prints behind a quiet commit is that of the commit."""
    told = "4" * 40
    quiet = "git add -A && git commit -q -m x && git log -1 --format=%H"
    assert commits_of([_git(quiet, f"{told}\n")]) == (told,)
    assert commits_of([_git("git rev-parse HEAD", f"{told}\n")]) == ()
