"""Whatever a command, an output or a prompt is made of, time grows in proportion to its length."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.growth import grows_by_at_most, repeated
from trackrecord.learning.text.redaction import redacted
from trackrecord_capture.agent_run import RunCall
from trackrecord_capture.call_fields import tool_name
from trackrecord_capture.outcome import is_answer
from trackrecord_capture.projects import RunProjects
from trackrecord_capture.shell.checks import checks_of
from trackrecord_capture.shell.edits import edits_of
from trackrecord_capture.shell.git import commits_of
from trackrecord_capture.shell.steps import steps_of
from trackrecord_capture.verdict.phrases import goes_on, only_looks, says_wrong
from trackrecord_capture.verdict.summaries import has_test_result, part_of, summary_of


def command(text: str) -> None:
    steps_of.cache_clear()
    tool_name(text)
    checks_of(text)
    edits_of(text)


def search(text: str) -> None:
    is_answer(RunCall(tool="Bash", command="grep x", result=text, ok=False, exit_code=1))


def commits(text: str) -> None:
    commits_of([RunCall(tool="Bash", command="git commit", result=text, ok=True)])


def output(text: str) -> None:
    summary_of(text)
    part_of(text, None)
    has_test_result(text)


def prompt(text: str) -> None:
    says_wrong(text)
    goes_on(text)
    only_looks(text)


COMMANDS = (
    "'", '"', "$(", "`", "<<E\n", '"$(<<A', "a;", "{", "(", "\\", "<<-x", "a|", ">", "x=1 ", "${",
    "pytest ", "pytest a;", "pytest|tail -3|", "pytest&&", "make -k ", "pytest;echo $?;",
    "grep a&&",
    "bash -c ", "sudo ", "eval '", "env -u ", "$((", "#", "cd x && ",
)  # fmt: skip
TEXTS = (
    "-", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "a", "a://", "http://a:",
    "password", "password=", '"password":"', "--password ", "mysql -p ", "token is ", "cookie:",
    "eyJ", "a.b-", "-u a:", "Ab1", "authorization: ", "PuTTY-User-Key-File-1:", 'pass\\\\"', "sk-",
    "=", "密码", "密码：", " ", "\n", "1 failed", "error: ", "[main 1a2b3c4] ", "[a ", "[", "不",
    "no, ", "Ran 3 tests\n", "Ran 3 tests ", "Tests: ", "ok 1\n", "1..2\n", "nox > * ",
    "a: ", "line 1: ",
    "1.", "a 1 ", "[a", "x(1", "...", "✗ ",
    "Executed ", "x:1:1: ", "passed in ", "test ", "> Task test", "Session a", "not ok ", "a/b: ",
 "这", "please ",
)  # fmt: skip
CASES: list[tuple[Callable[[str], None], tuple[str, ...]]] = [
    (command, COMMANDS),
    *((work, TEXTS) for work in (redacted, output, commits, prompt, search)),
]


@pytest.mark.linear_time
@pytest.mark.parametrize(("work", "pieces"), CASES)
def test_time_grows_with_the_length(work: Callable[[str], object], pieces: tuple[str, ...]):
    """Eight times the text takes about eight times as long, or nothing at all."""
    for piece in pieces:
        short, long = repeated(piece, 4_000), repeated(piece, 32_000)
        assert grows_by_at_most(8, work, short=short, long=long), piece


@pytest.mark.linear_time
@pytest.mark.parametrize("piece", ["\n", " ", "\t\n", '[remote "a"]\n', "url ", "url = \n", "["])
def test_time_grows_with_the_length_of_the_configuration_of_a_repository(tmp_path: Path, piece):
    """Whoever may write one folder of this machine chooses what its `.git/config` holds."""

    def repository(characters: int) -> str:
        # No project can have this name, so that the remotes are read.
        folder = tmp_path / str(characters) / "\u200b"
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "config").write_text(repeated(piece, characters))
        return str(folder)

    short, long = repository(8_000), repository(64_000)
    assert grows_by_at_most(8, RunProjects().of, short=short, long=long)
