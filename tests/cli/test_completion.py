"""What shells complete: commands, options, choices, and what is on record."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis

from tests.cli.command_tree import leaves
from tests.cli.terminal import PATIENCE_S, Terminal
from trackrecord_cli.main import run

SHELLS = {
    "bash": ("bash", "--norc", "-i"),
    "zsh": ("zsh", "-f", "-i"),
    "fish": ("fish", "--no-config", "-i"),
}
LINES = {
    "bash": 'eval "$(trackrecord completion bash)"',
    "zsh": 'autoload -U compinit && compinit -u -D; eval "$(trackrecord completion zsh)"',
    "fish": "trackrecord completion fish | source",
}


def _asking(*words):
    """The variables by which bash asks for what completes the last of the words."""
    return {
        "_TRACKRECORD_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("trackrecord", *words)),
        "COMP_CWORD": str(len(words)),
    }


def _answered(out, err):
    assert err == ""
    return [each.partition(",")[2] for each in out.split()]


def completed_by_a_process(*words, **environment):
    """Return bash's completions of the last of the words."""
    ran = subprocess.run(
        [sys.executable, "-m", "trackrecord_cli"],
        env={**os.environ, **_asking(*words), **environment},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return _answered(ran.stdout, ran.stderr)


@pytest.fixture
def completed(monkeypatch, capfd):
    """Completes the last of some words in this process."""

    def complete(*words):
        capfd.readouterr()
        with monkeypatch.context() as asked:
            for name, value in _asking(*words).items():
                asked.setenv(name, value)
            with pytest.raises(SystemExit):
                run([])
        return _answered(*capfd.readouterr())

    return complete


@pytest.fixture
def suggested(completed):
    """Return the final suggestions: a machine that is too busy gives up on a suggestion."""

    def suggest(*words):
        deadline = time.monotonic() + PATIENCE_S
        while not (found := completed(*words)) and time.monotonic() < deadline:
            pass
        return found

    return suggest


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_a_command_and_an_id(shell, learnt, project, up):
    """In the real shell, after the one line that the documentation gives."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    learnt({"task_id": "t", "success": True, "strategy": "Split by component"})
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with Terminal(program=SHELLS[shell], columns=200, PATH=path, PS1="ready> ") as terminal:
        terminal.type(f'{LINES[shell]}; echo so""urced\n')
        terminal.wait_for("sourced")
        terminal.type(f"trackrecord patt\tshow --project {project} split-b")
        terminal.wait_for("patterns show")
        # The shell adds what is missing of split-by-component.
        terminal.type_until("\t", "y-component")


def test_what_is_on_record_is_completed(learnt, trackrecord, project, up, completed, suggested):
    """Ids, tasks and projects; none that a shell would act on."""
    learnt(
        {"outcome_id": "outcome-1", "task_id": "mend-login", "success": True,
         "strategy": "Split by component", "criteria": {"readable": "helpful"}},
        {"outcome_id": "outcome-$(id)", "task_id": "mend-$(id)", "success": True},
    )  # fmt: skip
    memory = trackrecord("memories", "add", "It needs port 1", "--project", project).out.strip()
    error = trackrecord("errors", "record", "t", "m", "--project", project).out.strip()
    mine = ("--project", project)
    for words, meant in (
        (("patterns", "show", *mine, "spl"), "split-by-component"),
        (("criteria", "show", *mine, "re"), "readable"),
        (("memories", "confirm", *mine, memory[:6]), memory),
        (("runs", "show", *mine, "outcome"), "outcome-1"),
        (("runs", "list", *mine, "--task", "mend"), "mend-login"),
        (("errors", "resolve", *mine, error[:6]), error),
    ):
        assert suggested(*words) == [meant], words
    assert project in suggested("runs", "list", "--project", project[:-1])
    assert completed("patterns", "list", "--sort", "hel") == ["helpful"]
    assert completed("patterns", "list", "--state", "pro") == ["proven"]


def test_more_ids_are_completed(learnt, trackrecord, project, up, completed, suggested, tmp_path):
    """Of lessons, artifacts and dead letters, and of the tokens that are valid."""
    mine = ("--project", project)
    failing = {"tool": "book", "ok": False, "error": "no seat left"}
    learnt(*({"task_id": f"t{n}", "success": False, "tool_graph": [failing]} for n in range(4)))
    lessons = [
        each["id"] for each in trackrecord("lessons", "list", *mine, "--everything", "--json").json
    ]
    (tmp_path / "output").write_text("text")
    artifact = trackrecord("artifacts", "put", tmp_path / "output", *mine).out.strip()
    valid, revoked = (trackrecord("token", "create", *mine, "--json").json["id"] for _ in range(2))
    trackrecord("token", "revoke", revoked)
    with redis.Redis(unix_socket_path=str(up / "redis.sock")) as client:
        letter = client.xadd("trackrecord:dead", {"body": b"x", "reason": "r"}).decode()
        for beginning in (letter[:12], letter[:13], letter):
            assert letter in suggested("dead", "replay", beginning), beginning
        assert suggested("dead", "replay", "''")
        assert completed("dead", "discard", f"{letter[:-1]}x") == []
        client.xdel("trackrecord:dead", letter)
    assert lessons
    assert sorted(suggested("lessons", "show", *mine, "''")) == sorted(lessons)
    assert suggested("lessons", "restore", *mine, lessons[0][:-1]) == [lessons[0]]
    assert suggested("artifacts", "get", *mine, artifact[:6]) == [artifact]
    assert suggested("token", "revoke", valid[:6]) == [valid]
    assert completed("token", "revoke", revoked[:6]) == []


def test_nothing_breaks_when_the_store_is_away(home, completed, monkeypatch):
    """There is no suggestion then, and no file is made for it."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home / "not-there"))
    assert completed_by_a_process("patterns", "show", "x") == []
    assert completed("errors", "resolve", "x") == []
    assert not (home / "not-there").exists()
    monkeypatch.setenv("TRACKRECORD_DATABASE_URL", "postgresql://me@127.0.0.1:1/x")
    assert completed("patterns", "show", "x") == []
    assert completed("patterns", "sh") == ["show"]


def test_a_suggestion_that_takes_too_long_is_given_up(home):
    """The shell is free again although the database accepts a connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/x"
        away = {"TRACKRECORD_HOME": str(home), "TRACKRECORD_DATABASE_URL": url}
        assert completed_by_a_process("patterns", "show", "x", **away) == []


def test_every_id_is_completed():
    """A new command that takes one is not forgotten."""
    known = {"pattern_id", "competence_id", "competence_ids", "old_id", "new_id", "memory_id",
             "outcome_id", "criterion", "error_id", "some_id", "project", "lesson_id",
             "artifact_id", "token_id", "ids"}  # fmt: skip
    for path, command in leaves():
        for parameter in command.params:
            is_new = path in {("amend",), ("feedback", "give"), ("feedback", "list")}
            if parameter.name in known and not is_new:
                assert parameter._custom_shell_complete is not None, (path, parameter.name)


def test_each_shell_has_a_script(trackrecord):
    """Another one is told which there are."""
    for shell in SHELLS:
        ran = trackrecord("completion", shell)
        assert ran.status == 0
        assert "_TRACKRECORD_COMPLETE" in ran.out
    assert trackrecord("completion", "tcsh").status == 2
